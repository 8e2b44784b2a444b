// The process of the fake services as its parent sees it, and the settings by which a gateway uses them. Certificates are
// made for each measurement; the gateway trusts their authority by NODE_EXTRA_CA_CERTS.

import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeAuthority, makeCertificate } from '../../fakes/certificates.ts';
import { goFirst } from '../caller/go-first.ts';
import { SERVICE_KEY } from './service-key.ts';
import type { Job, ServiceAnswer, ServiceOrder, ServicePorts } from './service-process.ts';

const answer = z.looseObject({ cpuMs: z.number(), error: z.string().optional() });

export class ServiceClient {
  readonly #child: ChildProcess;
  /** For NODE_EXTRA_CA_CERTS. */
  readonly authorityFile: string;
  #ports: ServicePorts | undefined;
  #settle: { resolve: (answer: ServiceAnswer) => void; reject: (error: Error) => void } | undefined;

  private constructor(authorityFile: string) {
    this.authorityFile = authorityFile;
    this.#child = fork(new URL('./service-process.ts', import.meta.url), {
      execArgv: ['--import', 'tsx', '--heap-growing-percent=200'],
    });
    goFirst(this.pid);
    this.#child.on('message', (message) => {
      const { error } = answer.parse(message);
      // The process is of the same build.
      if (error === undefined) this.#settle?.resolve(message as unknown as ServiceAnswer);
      else this.#settle?.reject(new Error(error));
    });
    this.#child.on('exit', () => this.#settle?.reject(new Error('the services ended early')));
  }

  /** `folder` gets the authority's certificate. */
  static async start(folder: string, options: { isBreakable: boolean }): Promise<ServiceClient> {
    const authority = makeAuthority('Load Test Authority');
    const tls = makeCertificate({ names: ['127.0.0.1', 'localhost'], authority });
    const file = join(folder, 'authority.pem');
    writeFileSync(file, authority.cert);
    const client = new ServiceClient(file);
    const { ports } = await client.ask({ order: 'start', tls, ...options });
    client.#ports = ports;
    return client;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** One order at a time. */
  ask(order: ServiceOrder): Promise<ServiceAnswer> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#child.send(order);
    });
  }

  /** The organization's services: each job with its primary and its fallback. */
  settings(): Record<Job, object> {
    const ports = this.#ports;
    if (ports === undefined) throw new Error('the services have not started');
    const chain = (job: Job, of: (port: number) => object): object => {
      const [primary, fallback] = ports[job].map(of);
      return { ...primary, fallbacks: [fallback] };
    };
    const key = { api_key: SERVICE_KEY };
    return {
      stt: chain('stt', (port) => {
        const at = { base_url: `https://127.0.0.1:${port}`, language: 'en' };
        return { provider: 'deepgram', model: 'nova-3-general', ...key, ...at };
      }),
      tts: chain('tts', (port) => {
        const at = { base_url: `https://127.0.0.1:${port}`, voice: 'load-voice' };
        return { provider: 'cartesia', model: 'sonic-3', ...key, ...at };
      }),
      llm: chain('llm', (port) => {
        const at = { base_url: `https://127.0.0.1:${port}/v1`, model: 'load' };
        return { provider: 'openai_compatible', ...key, ...at };
      }),
    };
  }

  stop(): void {
    this.#settle = undefined;
    if (this.#child.connected) this.#child.disconnect();
  }
}
