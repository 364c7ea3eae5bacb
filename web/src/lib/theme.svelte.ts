export type Theme = 'auto' | 'light' | 'dark';

const STORED = 'taxosphere.theme';

class Look {
  theme = $state<Theme>((localStorage.getItem(STORED) as Theme | null) ?? 'auto');

  constructor() {
    this.show();
  }

  set(theme: Theme): void {
    this.theme = theme;
    localStorage.setItem(STORED, theme);
    this.show();
  }

  get dark(): boolean {
    return this.theme === 'dark' || (this.theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  }

  private show(): void {
    if (this.theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.theme;
  }
}

export const look = new Look();
