/** One background job followed until it ends: by the event stream, and by asking now and then in case that is broken. */
import { untrack } from 'svelte';

import { api } from './api';
import type { Job } from './types';
import { workbench } from './workbench.svelte';

const EVERY = 1500;

export class Follow {
  job = $state.raw<Job | null>(null);

  constructor(private readonly kinds: string[], private readonly ended: (job: Job) => void = () => undefined) {
    $effect(() => {
      const heard = workbench.job;
      if (heard && this.kinds.includes(heard.kind)) untrack(() => this.take(heard));
    });
    $effect(() => {
      if (!this.running) return;
      const timer = setInterval(() => {
        const id = this.job?.id;
        if (id) api.job(id).then((job) => this.take(job)).catch(() => undefined);
      }, EVERY);
      return () => clearInterval(timer);
    });
  }

  get running(): boolean {
    return this.job?.state === 'queued' || this.job?.state === 'running';
  }

  get share(): number {
    const progress = this.job?.progress;
    return progress && progress.total > 0 ? progress.done / progress.total : 0;
  }

  /** Pick up a job that was started before the page was opened. */
  async resume(): Promise<void> {
    const answer = await api.jobs().catch(() => []);
    const jobs = Array.isArray(answer) ? answer : answer.jobs;
    const going = jobs.find((job) => this.kinds.includes(job.kind) && (job.state === 'running' || job.state === 'queued'));
    if (going) this.job = going;
  }

  async follow(id: string): Promise<void> {
    this.take(await api.job(id));
  }

  async cancel(): Promise<void> {
    if (this.job) await api.cancelJob(this.job.id).catch((error: unknown) => workbench.failed(error));
  }

  private take(job: Job): void {
    const was = this.running || this.job?.id !== job.id;
    this.job = job;
    if (was && (job.state === 'done' || job.state === 'failed')) this.ended(job);
  }
}
