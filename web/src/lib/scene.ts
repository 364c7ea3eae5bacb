/** The sphere in space: shells as circles, concepts as dots, and a camera that turns around the centre. */
import {
  BufferGeometry, CircleGeometry, Color, Float32BufferAttribute, Group, Line, LineBasicMaterial, LineLoop, Mesh, MeshBasicMaterial,
  PerspectiveCamera, RingGeometry, Scene, SphereGeometry, Vector2, Vector3, WebGLRenderer,
} from 'three';

import { distance, outOfReach, spread } from './fan';
import type { Sphere, SpherePoint } from './types';

export interface Label {
  id: string;
  name: string;
  x: number;
  y: number;
  behind: boolean;
  /** Does it stand left of its dot, because there is no room on the right? */
  before: boolean;
  kind: SpherePoint['kind'] | 'query';
}

export interface Hearing {
  hover(id: string | null): void;
  pick(id: string): void;
  labels(labels: Label[]): void;
}

interface Dot {
  point: SpherePoint;
  at: Vector3;
  mesh: Mesh;
  ring: boolean;
}

const SIZES = { candidate: 0.021, neighbour: 0.014, taxonomy: 0.008 } as const;
const NAMED = 5;
const LABEL = 190; // pixels that a label may need

export function canDrawInSpace(): boolean {
  try {
    const canvas = document.createElement('canvas');
    return Boolean(canvas.getContext('webgl2'));
  } catch {
    return false;
  }
}

export class SphereScene {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(38, 1, 0.05, 20);
  private readonly world = new Group();
  private dots: Dot[] = [];
  private query = new Vector3(0, 1, 0);
  private turn = 0;
  private tilt = 0.25;
  private far = 3.4;
  private chosen = new Set<string>();
  private hovered: string | null = null;
  private asked = 0;
  private readonly observer: ResizeObserver;
  private readonly ended = new AbortController();

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly hearing: Hearing,
  ) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.scene.add(this.world);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas.parentElement ?? canvas);
    this.control();
  }

  show(sphere: Sphere): void {
    this.world.clear();
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string): Color => new Color(style.getPropertyValue(name).trim());
    for (const shell of sphere.shells) this.addShell(distance(shell), colour('--line-strong'));
    this.query = new Vector3(sphere.query.x, sphere.query.y, sphere.query.z).normalize().multiplyScalar(distance(sphere.query.shell));
    this.addLine([new Vector3(), this.query.clone()], colour('--new'), 0.7);
    const star = new Mesh(new SphereGeometry(0.03, 20, 14), new MeshBasicMaterial({ color: colour('--new') }));
    star.position.copy(this.query);
    this.world.add(star);
    const tones = { candidate: colour('--accent'), neighbour: colour('--soft'), taxonomy: colour('--line-strong') };
    this.dots = sphere.points.map((point) => this.addDot(point, tones[point.kind]));
    for (const dot of this.dots) if (dot.point.kind === 'candidate') this.addLine([dot.at, this.query], tones.candidate, 0.3);
    this.turn = Math.atan2(this.query.x, this.query.z) - 0.35;
    this.tilt = Math.max(-1, Math.min(1, Math.asin(this.query.y / (this.query.length() || 1)) - 0.2));
    this.draw();
  }

  mark(chosen: readonly string[], hovered: string | null): void {
    this.chosen = new Set(chosen);
    this.hovered = hovered;
    for (const dot of this.dots) dot.mesh.scale.setScalar(dot.point.id === hovered ? 1.7 : this.chosen.has(dot.point.id) ? 1.5 : 1);
    this.draw();
  }

  rotate(right: number, up: number): void {
    this.turn += right;
    this.tilt = Math.max(-1.5, Math.min(1.5, this.tilt + up));
    this.draw();
  }

  end(): void {
    this.ended.abort();
    this.observer.disconnect();
    cancelAnimationFrame(this.asked);
    this.renderer.dispose();
  }

  private addShell(radius: number, colour: Color): void {
    const circle = new CircleGeometry(radius, 96);
    const position = circle.getAttribute('position');
    const points = Array.from({ length: 96 }, (_, n) => new Vector3().fromBufferAttribute(position, n + 1));
    const geometry = new BufferGeometry().setFromPoints(points);
    const material = new LineBasicMaterial({ color: colour, transparent: true, opacity: 0.28 });
    for (const [x, y] of [[0, 0], [Math.PI / 2, 0], [0, Math.PI / 2]] as const) {
      const loop = new LineLoop(geometry, material);
      loop.rotation.set(x, y, 0);
      this.world.add(loop);
    }
  }

  private addLine(points: Vector3[], color: Color, opacity: number): void {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new Float32BufferAttribute(points.flatMap((point) => point.toArray()), 3));
    this.world.add(new Line(geometry, new LineBasicMaterial({ color, transparent: true, opacity })));
  }

  private addDot(point: SpherePoint, color: Color): Dot {
    const at = new Vector3(point.x, point.y, point.z).normalize().multiplyScalar(distance(point.shell));
    const size = SIZES[point.kind];
    const ring = outOfReach(point);
    const geometry = ring ? new RingGeometry(size * 0.6, size, 24) : new SphereGeometry(size, 14, 10);
    const opacity = point.kind === 'taxonomy' ? 0.55 : 1;
    const mesh = new Mesh(geometry, new MeshBasicMaterial({ color, transparent: opacity < 1, opacity }));
    mesh.position.copy(at);
    this.world.add(mesh);
    return { point, at, mesh, ring };
  }

  private control(): void {
    const { signal } = this.ended;
    let from: { x: number; y: number; moved: boolean } | null = null;
    this.canvas.addEventListener('pointerdown', (event) => {
      from = { x: event.clientX, y: event.clientY, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    }, { signal });
    this.canvas.addEventListener('pointermove', (event) => {
      if (from) {
        const dx = event.clientX - from.x;
        const dy = event.clientY - from.y;
        if (!from.moved && Math.hypot(dx, dy) < 4) return;
        from = { x: event.clientX, y: event.clientY, moved: true };
        this.rotate(-dx * 0.008, dy * 0.008);
      } else this.hearing.hover(this.under(event));
    }, { signal });
    this.canvas.addEventListener('pointerup', (event) => {
      const clicked = from && !from.moved ? this.under(event) : null;
      from = null;
      if (clicked) this.hearing.pick(clicked);
    }, { signal });
    this.canvas.addEventListener('pointerleave', () => this.hearing.hover(null), { signal });
    this.canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.far = Math.max(1.3, Math.min(6, this.far * (1 + event.deltaY * 0.001)));
      this.draw();
    }, { signal, passive: false });
  }

  /** The concept under the pointer: the nearest dot on screen within a few pixels, candidates first. */
  private under(event: PointerEvent): string | null {
    const box = this.canvas.getBoundingClientRect();
    const pointer = new Vector2(event.clientX - box.left, event.clientY - box.top);
    let best: { id: string; rank: number } | null = null;
    for (const dot of this.dots) {
      const { x, y } = this.onScreen(dot.at);
      const away = pointer.distanceTo(new Vector2(x, y)) - (dot.point.kind === 'candidate' ? 6 : 0);
      if (away < 10 && (best === null || away < best.rank)) best = { id: dot.point.id, rank: away };
    }
    return best?.id ?? null;
  }

  private onScreen(at: Vector3): { x: number; y: number; behind: boolean } {
    const placed = at.clone().project(this.camera);
    const size = this.renderer.getSize(new Vector2());
    return { x: ((placed.x + 1) / 2) * size.x, y: ((1 - placed.y) / 2) * size.y, behind: at.dot(this.camera.position) < 0 };
  }

  private resize(): void {
    const box = (this.canvas.parentElement ?? this.canvas).getBoundingClientRect();
    this.renderer.setSize(box.width, box.height, false);
    this.camera.aspect = box.width / Math.max(1, box.height);
    this.draw();
  }

  private draw(): void {
    cancelAnimationFrame(this.asked);
    this.asked = requestAnimationFrame(() => {
      const flat = Math.cos(this.tilt) * this.far;
      this.camera.position.set(Math.sin(this.turn) * flat, Math.sin(this.tilt) * this.far, Math.cos(this.turn) * flat);
      this.camera.lookAt(0, 0, 0);
      this.camera.updateProjectionMatrix();
      this.camera.updateMatrixWorld();
      for (const dot of this.dots) if (dot.ring) dot.mesh.quaternion.copy(this.camera.quaternion);
      this.renderer.render(this.scene, this.camera);
      this.hearing.labels(this.labels());
    });
  }

  private labels(): Label[] {
    const candidates = this.dots.filter((dot) => dot.point.kind === 'candidate').slice(0, NAMED);
    const marked = this.dots.filter((dot) => dot.point.id === this.hovered || this.chosen.has(dot.point.id));
    const size = this.renderer.getSize(new Vector2());
    const at = (place: Vector3): Pick<Label, 'x' | 'y' | 'behind' | 'before'> => {
      const seen = this.onScreen(place);
      return { ...seen, before: seen.x > size.x - LABEL && seen.x > size.x / 2 };
    };
    const labels: Label[] = [...new Set([...candidates, ...marked])].map((dot) => ({ id: dot.point.id, name: dot.point.name, kind: dot.point.kind, ...at(dot.at) }));
    const all: Label[] = [{ id: '', name: '', kind: 'query', ...at(this.query) }, ...labels];
    spread(all.map((label) => label.y), 15, 10, size.y - 10).forEach((y, n) => Object.assign(all[n] ?? {}, { y }));
    return all;
  }
}
