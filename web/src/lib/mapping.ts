/** Which column of an uploaded table means what. */

export const ROLES = ['name', 'description', 'synonyms', 'id'] as const;
export const KEEP = 'keep';

/** The cell of a row in a column; rows come as records or as lists. */
export function cell(row: Record<string, unknown> | unknown[], column: string, place: number): string {
  const value = Array.isArray(row) ? row[place] : row[column];
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.join(' · ') : String(value);
}

export function roleOf(mapping: Record<string, string>, column: string): string {
  return Object.entries(mapping).find(([, title]) => title === column)?.[0] ?? KEEP;
}

/** The mapping after a column was given a role; a role belongs to one column, a column has one role. */
export function assign(mapping: Record<string, string>, column: string, role: string): Record<string, string> {
  const others = Object.entries(mapping).filter(([name, title]) => title !== column && name !== role);
  return Object.fromEntries(role === KEEP ? others : [...others, [role, column]]);
}

/** Text pasted from anywhere as a file the service can read: a table keeps its separators, a bare list gets a title. */
export function pasted(text: string): { name: string; content: string } {
  const lines = text.replace(/\r\n?/g, '\n').split('\n').filter((line) => line.trim());
  const first = lines[0]?.trim() ?? '';
  if (first.startsWith('{')) return { name: 'pasted.jsonl', content: lines.join('\n') };
  if (lines.every((line) => line.includes('\t'))) return { name: 'pasted.tsv', content: lines.join('\n') };
  const titles = /(^|[,;])\s*"?(name|label|term|title|concept|begriff|bezeichnung)"?\s*([,;]|$)/i;
  if (titles.test(first)) return { name: 'pasted.csv', content: lines.join('\n') };
  return { name: 'pasted.csv', content: ['name', ...lines.map((line) => `"${line.trim().replaceAll('"', '""')}"`)].join('\n') };
}

/** Bytes as base64, in pieces that the call stack can take. */
export function base64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
