/** The address of what is on screen: `#/view/id?name=value`, so that every concept and item has a link. */

export const VIEWS = ['review', 'tree', 'sphere', 'history', 'model', 'files'] as const;
export type View = (typeof VIEWS)[number];

export interface Route {
  view: View;
  id: string | null;
  query: Record<string, string>;
}

export function parse(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view = '', id = ''] = path.split('/');
  const known = (VIEWS as readonly string[]).includes(view) ? (view as View) : 'review';
  let decoded: string | null = null;
  try {
    decoded = id ? decodeURIComponent(id) : null;
  } catch {
    decoded = id;
  }
  return { view: known, id: decoded, query: Object.fromEntries(new URLSearchParams(search)) };
}

export function link(view: View, id?: string | null, query: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value);
  const text = search.toString();
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ''}${text ? `?${text}` : ''}`;
}

class Router {
  route = $state.raw<Route>(parse(location.hash));

  constructor() {
    addEventListener('hashchange', () => this.read());
  }

  go(view: View, id?: string | null, query?: Record<string, string | undefined>): void {
    const target = link(view, id, query);
    if (target !== location.hash) history.pushState(null, '', target);
    this.read();
  }

  /** Another address for the same step: going back skips it. */
  replace(view: View, id?: string | null, query?: Record<string, string | undefined>): void {
    history.replaceState(null, '', link(view, id, query));
    this.read();
  }

  private read(): void {
    this.route = parse(location.hash);
  }
}

export const router = new Router();
addEventListener('popstate', () => dispatchEvent(new HashChangeEvent('hashchange')));
