/** The names above a concept, outermost first. Paths of candidates end with the candidate itself; those of concepts do not. */
export function above(path: readonly string[], name: string): string[] {
  return path.at(-1) === name ? path.slice(0, -1) : path.slice();
}

/** A path short enough for one line: the outermost name, what is next to the concept, and dots for what lies between. */
export function shortened(names: readonly string[], most = 4): string[] {
  return names.length <= most ? names.slice() : [names[0] ?? '', '…', ...names.slice(-(most - 2))];
}
