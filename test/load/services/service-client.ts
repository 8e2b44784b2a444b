// The process of the fake services as its parent sees it, and the settings by which a gateway uses them. Certificates are
// made for each measurement; the gateway trusts their authority by NODE_EXTRA_CA_CERTS.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeAuthority, makeCertificate } from '../../fakes/certificates.ts';
import { OrderProcess } from '../order-process.ts';
import { SERVICE_KEY } from './service-key.ts';
import type { Job, ServiceAnswer, ServiceOrder, ServicePorts } from './service-process.ts';

export class ServiceClient extends OrderProcess<ServiceOrder, ServiceAnswer> {
  /** For NODE_EXTRA_CA_CERTS. */
  readonly authorityFile: string;
  #ports: ServicePorts | undefined;

  private constructor(authorityFile: string) {
    super(new URL('./service-process.ts', import.meta.url), {
      name: 'the process of the services',
      flags: ['--heap-growing-percent=200'],
    });
    this.authorityFile = authorityFile;
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
}
