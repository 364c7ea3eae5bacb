// A stand-in for the service while working on the page: the same answers from memory, made-up or read from a JSON file.
// node dev/fake.mjs [--port 8000] [--page DIR] [--data FILE.json] [--concepts 100000] [--items 10000] [--delay 0]
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '8000' }, page: { type: 'string', default: '../src/taxosphere/service/page' },
    data: { type: 'string' }, concepts: { type: 'string', default: '100000' }, items: { type: 'string', default: '10000' },
    delay: { type: 'string', default: '0' },
  },
});
const WORDS = 'alignment protein structure sequence format report analysis gene motif signal map index score matrix profile tree'.split(' ');
const word = (n) => WORDS[n % WORDS.length];

function generated(count, items) {
  const ids = [], names = [], definitions = [], edges = [];
  for (let n = 0; n < count; n++) {
    ids.push(`c${n}`);
    names.push(`${word(n * 7)} ${word(Math.floor(n / 16))} ${n}`);
    definitions.push(`A ${word(n)} of ${word(n * 3)}s, made up for measuring.`);
    if (n >= 8) edges.push([`c${Math.floor((n - 8) / 12)}`, `c${n}`]);
  }
  const queries = [], results = [];
  for (let n = 0; n < items; n++) {
    queries.push({ name: `new ${word(n)} ${word(n * 5 + 1)} ${n}`, description: `A new ${word(n)}.`, synonyms: [] });
    results.push(null);
  }
  return { name: 'Made up', ids, names, definitions, edges, queries, results };
}

const data = options.data ? JSON.parse(await readFile(options.data, 'utf8')) : generated(+options.concepts, +options.items);
const place = new Map(data.ids.map((id, n) => [id, n]));
const below = data.ids.map(() => []), above = data.ids.map(() => []);
for (const [p, c] of data.edges) { below[place.get(p)].push(place.get(c)); above[place.get(c)].push(place.get(p)); }
const roots = data.ids.map((_, n) => n).filter((n) => above[n].length === 0);
const path = (n) => { const names = []; for (let at = above[n][0], k = 0; at !== undefined && k < 30; at = above[at][0], k++) names.unshift(data.names[at]); return names; };
const named = (n) => ({ id: data.ids[n], name: data.names[n] });
const row = (n) => ({ ...named(n), definition: data.definitions[n], children: below[n].length, path: path(n), state: 'base' });

function madeUp(k) {
  const top = ((k * 37) % 100) / 100;
  const suggestions = [0, 1, 2, 3, 4].map((rank) => {
    const n = (k * 131 + rank * 977) % Math.max(1, Math.floor(data.ids.length / 12));
    return { ...named(n), path: path(n), probability: rank ? (1 - top) / (rank + 3) : top, score: 1, cosine: 0.8 - rank / 10, gate: rank < 4, siblings: below[n].slice(0, 3).map((c) => data.names[c]), reasons: {} };
  });
  return { none_probability: (1 - top) / 5, parents: [suggestions[0].id], already: [], suggestions };
}
const fill = (s, k) => ({ ...s, definition: data.definitions[place.get(s.id)], sentences: [
  { text: `${3 + (k % 6)} of its 10 nearest concepts are below ${s.name}`, for: true },
  { text: `its definition begins like those below ${s.name}`, for: s.probability > 0.3 },
  ...(s.gate ? [] : [{ text: `${s.name} has nothing below it so far`, for: false }]) ] });
const items = data.queries.map((query, k) => ({ k, id: `i${k}`, query, state: 'open', version: 1, assignee: null, decided_by: null, decided_at: null, history: [] }));
const byId = new Map(items.map((item) => [item.id, item]));
const suggested = (item) => data.results[item.k] ?? madeUp(item.k);
const itemRow = (item) => { const s = suggested(item), b = s.suggestions[0]; return { id: item.id, name: item.query.name, state: item.state, best: b ? { id: b.id, name: b.name, path: b.path, probability: b.probability } : null, none_probability: s.none_probability, assignee: item.assignee, version: item.version, decided_by: item.decided_by, decided_at: item.decided_at }; };
const counts = () => { const c = { open: 0, accepted: 0, moved: 0, top: 0, same: 0, rejected: 0, later: 0 }; for (const i of items) c[i.state]++; return c; };
const events = [], streams = new Set(), answers = new Map(), jobs = new Map();
const versions = [{ id: 'v1', made: '2026-11-16T18:02:00Z', figures: { 'hit@1': 61.7, 'hit@10': 91.2, mrr: 71.4, ece: 3.1 }, active: true }];
const AFTER = { accept: 'accepted', insert: 'accepted', move: 'moved', top: 'top', same: 'same', reject: 'rejected', later: 'later' };
const send = (name, body) => { for (const s of streams) s.write(`id: ${events.length}\nevent: ${name}\ndata: ${JSON.stringify(body)}\n\n`); };
const page = (list, cursor, limit) => { const from = +(cursor ?? 0), to = from + Math.min(+(limit ?? 50), 500); return [list.slice(from, to), to < list.length ? String(to) : null]; };
const SORTS = { probability: (a, b) => a.best.probability - b.best.probability, '-probability': (a, b) => b.best.probability - a.best.probability, name: (a, b) => a.name.localeCompare(b.name), added: () => 0 };

class No extends Error { constructor(status, detail, more = {}) { super(detail); Object.assign(this, { status, more }); } }
const need = (value) => { if (value === undefined) throw new No(404, 'not there'); return value; };

function decide(body, by) {
  const item = need(byId.get(body.item));
  if (body.version !== item.version) throw new No(409, 'decided meanwhile', { current: itemRow(item) });
  const event = { id: randomUUID(), kind: body.kind, item: item.id, name: item.query.name, parents: (body.parents ?? []).map((p) => named(need(place.get(p)))), by, at: new Date().toISOString(), note: body.note ?? '', probability: suggested(item).suggestions[0]?.probability ?? null, model: 'v1', undone_by: null, undoes: null, before: item.state };
  if (body.kind === 'edit') item.query = { ...item.query, name: body.changes.name ?? item.query.name, description: body.changes.definition ?? item.query.description, synonyms: body.changes.synonyms ?? item.query.synonyms };
  if (AFTER[body.kind]) Object.assign(item, { state: AFTER[body.kind], decided_by: by, decided_at: event.at });
  item.version++; item.history.unshift(event); events.unshift(event);
  const next = items.find((i) => i.state === 'open');
  send('decision', { event, item: itemRow(item) });
  return { event, item: itemRow(item), next: next?.id ?? null };
}

function undo(id, by) {
  const event = need(events.find((e) => e.id === id)), item = byId.get(event.item);
  if (event.undone_by) throw new No(409, 'it has been taken back already');
  const taken = { ...event, id: randomUUID(), kind: 'undo', by, at: new Date().toISOString(), undoes: id, undone_by: null };
  event.undone_by = taken.id; item.state = event.before; item.version++; events.unshift(taken);
  send('decision', { event: taken, item: itemRow(item) });
  return { event: taken, item: itemRow(item) };
}

function sphere(item) {
  let seed = item.k + 1; const random = () => ((seed = (seed * 16807) % 2147483647) / 2147483647) - 0.5;
  const unit = (v) => { const l = Math.hypot(...v) || 1; return v.map((x) => x / l); };
  const q = unit([random(), random(), random()]), s = suggested(item).suggestions;
  const near = (spread) => unit(q.map((x) => x + random() * spread));
  const point = (n, kind, spread, gate) => { const [x, y, z] = near(spread); return { ...named(n), x, y, z, shell: data.radii ? data.radii[n] : 3 + (n % 6), kind, cosine: x * q[0] + y * q[1] + z * q[2], gate }; };
  const points = [...s.map((c) => point(place.get(c.id), 'candidate', 0.9, c.gate))];
  for (let k = 0; k < 12; k++) points.push(point((item.k * 17 + k * 31) % data.ids.length, 'neighbour', 1.2, k % 3 > 0));
  for (let k = 0; k < 160; k++) points.push(point((k * 73) % data.ids.length, 'taxonomy', 5, true));
  const shells = points.map((p) => p.shell), most = Math.max(...shells);
  for (const p of points) p.shell = p.shell / most;
  return { query: { x: q[0], y: q[1], z: q[2], shell: 0.86 }, points, shells: [0.25, 0.5, 0.75, 1] };
}

function startJob(kind, result, then = () => {}) {
  const job = { id: randomUUID(), kind, state: 'running', progress: { done: 0, total: 20, what: 'reading' }, result: null, error: null };
  jobs.set(job.id, job);
  const timer = setInterval(() => {
    if (job.state === 'cancelled') return clearInterval(timer);
    job.progress = { done: job.progress.done + 1, total: 20, what: 'training' };
    if (job.progress.done >= 20) { Object.assign(job, { state: 'done', result }); then(); clearInterval(timer); }
    send('job', job);
  }, 300);
  return job.id;
}

const routes = [
  ['GET', /^me$/, () => ({ name: 'Ada', role: 'admin' })],
  ['GET', /^taxonomy$/, () => { const c = counts(); return { name: data.name, concepts: data.ids.length, edges: data.edges.length, roots: roots.length, depth: 9, format: 'obo', source: 'file', version: events.length, pending: c.open + c.later, decided: items.length - c.open }; }],
  ['GET', /^concepts$/, (q) => { const query = q.get('query')?.toLowerCase(); const list = query ? data.ids.map((_, n) => n).filter((n) => data.names[n].toLowerCase().includes(query)).sort((a, b) => data.names[a].length - data.names[b].length) : q.get('parent') ? below[need(place.get(q.get('parent')))] : roots; const [some, next] = page(list, q.get('cursor'), q.get('limit')); return { concepts: some.map(row), next }; }],
  ['GET', /^concepts\/([^/]+)$/, (q, id) => { const n = need(place.get(id)); return { ...named(n), definition: data.definitions[n], synonyms: [], parents: above[n].map(named), children: below[n].slice(0, 50).map(named), n_children: below[n].length, paths: [path(n)], siblings: (below[above[n][0]] ?? []).slice(0, 20).map(named), state: 'base', obsolete: false }; }],
  ['GET', /^queue$/, (q) => { const text = (q.get('query') ?? '').toLowerCase(); const list = items.filter((i) => (!q.get('state') || i.state === q.get('state')) && (!q.get('assignee') || i.assignee === q.get('assignee')) && i.query.name.toLowerCase().includes(text)).map(itemRow).sort(SORTS[q.get('sort') ?? '-probability']); const [some, next] = page(list, q.get('cursor'), q.get('limit')); return { items: some, next, counts: counts() }; }],
  ['GET', /^queue\/([^/]+)$/, (q, id) => { const item = need(byId.get(id)), s = suggested(item); return { ...itemRow(item), concept: { name: item.query.name, definition: item.query.description, synonyms: item.query.synonyms, own: {} }, suggestions: { ...s, suggestions: s.suggestions.map(fill) }, insertions: s.suggestions.slice(0, 1).map((c) => ({ parent: { id: c.id, name: c.name }, children: item.k % 3 ? [] : below[place.get(c.id)].slice(0, 3).map((n, k) => ({ ...named(n), probability: 0.8 - k * 0.25 })) })).filter((i) => i.children.length), history: item.history }; }],
  ['POST', /^queue\/([^/]+)\/assign$/, (q, id, body) => { const item = need(byId.get(id)); item.assignee = body.to; item.version++; return { item: itemRow(item) }; }],
  ['POST', /^decisions$/, (q, body) => decide(body, 'Ada')],
  ['GET', /^decisions\/bulk$/, (q) => { const list = items.filter((i) => i.state === 'open').map((i) => suggested(i).suggestions[0]?.probability ?? 0).filter((p) => p >= +q.get('threshold')); return { accepts: list.length, expected_right: list.reduce((a, b) => a + b, 0) }; }],
  ['POST', /^decisions\/bulk$/, (q, body) => { const list = items.filter((i) => i.state === 'open' && suggested(i).suggestions[0]?.probability >= body.threshold); const made = list.map((i) => decide({ item: i.id, kind: 'accept', parents: suggested(i).parents, version: i.version }, 'Ada').event.id); return { accepted: made.length, events: made }; }],
  ['POST', /^decisions\/([^/]+)\/undo$/, (q, id) => undo(id, 'Ada')],
  ['GET', /^decisions\/precision$/, (q) => { const list = events.filter((e) => e.kind === 'accept' && e.probability >= +q.get('at')); return { accepted: list.length, kept: list.filter((e) => !e.undone_by).length }; }],
  ['GET', /^decisions$/, (q) => { const list = events.filter((e) => (!q.get('by') || e.by === q.get('by')) && (!q.get('kind') || e.kind === q.get('kind'))); const [some, next] = page(list, q.get('cursor'), q.get('limit')); return { decisions: some, next }; }],
  ['GET', /^jobs$/, () => ({ jobs: [...jobs.values()] })],
  ['POST', /^jobs$/, (q, body) => ({ id: startJob(body.kind, {}, () => { versions.unshift({ id: `v${versions.length + 1}`, made: new Date().toISOString(), figures: { 'hit@1': 63.2, 'hit@10': 91.9, mrr: 72.6, ece: 2.4 }, active: false }); send('model', {}); }) })],
  ['GET', /^jobs\/([^/]+)$/, (q, id) => need(jobs.get(id))],
  ['POST', /^jobs\/([^/]+)\/cancel$/, (q, id) => Object.assign(need(jobs.get(id)), { state: 'cancelled' })],
  ['GET', /^model$/, () => ({ name: data.name, version: versions.find((v) => v.active).id, trained_on: { concepts: data.ids.length, edges: data.edges.length, seed_hash: '3f9a71c2' }, figures: versions.find((v) => v.active).figures, calibration: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1].map((to, k) => ({ from: to - 0.1, to, mean: to - 0.05, right: Math.min(1, to - 0.05 + Math.sin(k * 2.3) * 0.05), count: 40 + ((k * 37) % 90) })), versions })],
  ['POST', /^model\/activate$/, (q, body) => { for (const v of versions) v.active = v.id === body.id; send('model', {}); return {}; }],
  ['GET', /^sphere$/, (q) => sphere(need(byId.get(q.get('item'))))],
  ['POST', /^imports$/, (q, body) => { const lines = Buffer.from(body.content_base64, 'base64').toString().trim().split(/\r?\n/), columns = lines[0].split(/[,;\t]/); return { upload: 'u1', columns, rows: lines.slice(1, 21).map((l) => Object.fromEntries(l.split(/[,;\t]/).map((c, k) => [columns[k], c]))), mapping: { name: columns[0] }, count: lines.length - 1 }; }],
  ['POST', /^imports\/([^/]+)$/, () => ({ job: startJob('import', {}) })],
  ['GET', /^export$/, () => ({})],
];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2' };

createServer(async (request, response) => {
  const url = new URL(request.url, 'http://x');
  const json = (status, body, type = 'application/json') => response.writeHead(status, { 'Content-Type': type }).end(JSON.stringify(body));
  if (!url.pathname.startsWith('/api/v1/')) {
    const file = url.pathname === '/' ? 'index.html' : normalize(url.pathname).slice(1);
    const text = await readFile(join(options.page, file)).catch(() => null);
    if (!text) return response.writeHead(404).end();
    return response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Content-Security-Policy': "default-src 'self'" }).end(text);
  }
  if (url.pathname === '/api/v1/events') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': hello\n\n');
    streams.add(response);
    return request.on('close', () => streams.delete(response));
  }
  let text = '';
  for await (const chunk of request) text += chunk;
  const key = request.headers['idempotency-key'];
  if (key && answers.has(key)) return json(200, answers.get(key));
  await new Promise((resolve) => setTimeout(resolve, +options.delay));
  const rest = url.pathname.slice('/api/v1/'.length);
  try {
    for (const [method, pattern, run] of routes) {
      const match = method === request.method && pattern.exec(rest);
      if (!match) continue;
      const answer = run(url.searchParams, ...match.slice(1).map(decodeURIComponent), ...(text ? [JSON.parse(text)] : []));
      if (key) answers.set(key, answer);
      return json(200, answer);
    }
    json(404, { title: 'not there', status: 404, detail: rest }, 'application/problem+json');
  } catch (error) {
    if (!(error instanceof No)) console.error(error);
    json(error.status ?? 500, { title: error.message, status: error.status ?? 500, detail: error.message, ...error.more }, 'application/problem+json');
  }
}).listen(+options.port, '127.0.0.1', () => console.log(`http://127.0.0.1:${options.port}/`));
