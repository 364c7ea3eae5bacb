import { svelte } from '@sveltejs/vite-plugin-svelte';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const outDir = process.env.TAXOSPHERE_PAGE ?? fileURLToPath(new URL('../src/taxosphere/service/page', import.meta.url));
const service = process.env.TAXOSPHERE_SERVICE ?? 'http://127.0.0.1:8000';

export default defineConfig(({ mode }) => ({
  plugins: [svelte()],
  // The service sends `default-src 'self'`: nothing may become a data: URL or an inline script.
  build: { outDir, emptyOutDir: true, assetsInlineLimit: 0, target: 'es2022', modulePreload: { polyfill: false } },
  server: { proxy: { '/api': service, '/reconcile': service } },
  resolve: mode === 'test' ? { conditions: ['browser'] } : {},
  test: { environment: 'happy-dom', include: ['tests/**/*.test.ts'], restoreMocks: true },
}));
