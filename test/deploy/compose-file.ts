// The compose files of deploy/ as Docker Compose reads them: YAML with merge keys, and variables of .env filled in. Only the forms
// of variables that the file uses: ${NAME:?message}, ${NAME:-default}, and $$ for a dollar sign.
// Source: the Compose Specification, "Interpolation".

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const healthcheck = z.object({
  test: z.array(z.string()).optional(),
  disable: z.boolean().optional(),
});

/** A service's place in a network. */
const attachment = z.object({ ipv4_address: z.string().optional() });

function addressesIn(
  networks: Readonly<Record<string, z.infer<typeof attachment>>>,
): Record<string, string> {
  const fixed = Object.entries(networks).flatMap(([name, { ipv4_address: address }]) =>
    address === undefined ? [] : [[name, address] as const],
  );
  return Object.fromEntries(fixed);
}

const service = z
  .object({
    image: z.string(),
    build: z.string().optional(),
    profiles: z.array(z.string()).default([]),
    command: z.array(z.string()).default([]),
    environment: z.record(z.string(), z.string()).default({}),
    ports: z.array(z.string()).default([]),
    volumes: z.array(z.string()).default([]),
    networks: z.union([z.array(z.string()), z.record(z.string(), attachment)]),
    extra_hosts: z.record(z.string(), z.string()).default({}),
    secrets: z.array(z.string()).default([]),
    depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
    restart: z.string(),
    cap_drop: z.array(z.string()),
    mem_limit: z.string(),
    stop_grace_period: z.string().default('10s'),
    logging: z.object({ options: z.record(z.string(), z.string()) }),
    healthcheck,
  })
  .transform(({ networks, ...of }) => ({
    ...of,
    networks: Array.isArray(networks) ? networks : Object.keys(networks),
    /** Fixed addresses, by network. */
    addresses: Array.isArray(networks) ? {} : addressesIn(networks),
  }));

const file = z.object({
  services: z.record(z.string(), service),
  networks: z.record(
    z.string(),
    z.object({
      internal: z.boolean().default(false),
      ipam: z.object({ config: z.array(z.object({ subnet: z.string() })) }).optional(),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.object({ environment: z.string() })),
});

const VARIABLE = /\$(?:\$|\{([A-Z0-9_]+)(?::([-?])([^}]*))?\})/g;

/** One machine: a gateway. */
export const COMPOSE = 'deploy/compose.yaml';
/** Two gateways, and what is between them. */
export const CLUSTER = 'deploy/cluster/compose.yaml';

export interface Variable {
  name: string;
  /** Undefined: it must be set. */
  preset: string | undefined;
}

/** Lists the variables of the file, each as often as it is used. */
export function variablesOf(text: string): Variable[] {
  return [...text.matchAll(VARIABLE)].flatMap(([, name, kind, word]) =>
    name === undefined ? [] : [{ name, preset: kind === '-' ? word : undefined }],
  );
}

/** As written, for the schema. */
export function readYaml(path: string): unknown {
  return parse(readFileSync(path, 'utf8'), { merge: true });
}

/** Throws what Compose would refuse to start with: a variable without a value. */
export function readCompose(
  variables: Readonly<Record<string, string>>,
  path = COMPOSE,
): z.infer<typeof file> {
  const filled = (value: unknown): unknown => {
    if (typeof value === 'string') return interpolated(value, variables);
    if (Array.isArray(value)) return value.map(filled);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each)]));
  };
  return file.parse(filled(readYaml(path)));
}

function interpolated(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(VARIABLE, (_match, name?: string, kind?: string, word = '') => {
    if (name === undefined) return '$';
    const value = variables[name];
    if (value) return value;
    if (kind !== '-') throw new Error(`${name} is not set: ${word}`);
    return word;
  });
}

/** The lines NAME=value of a file as Compose reads .env; quotes and the like are not used in ours. */
export function readEnvFile(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => /^[A-Z0-9_]+=/.test(line));
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

/** Values for all that has none in .env.example. */
export const FILLED = {
  DOMAIN: 'gw.example.com',
  POSTGRES_PASSWORD: 'a1'.repeat(32),
  PATCHBAY_SECRET_KEYS: 'b2'.repeat(32),
  PATCHBAY_BOOTSTRAP_API_KEY: 'c3'.repeat(32),
  PATCHBAY_METRICS_TOKEN: 'd4'.repeat(32),
  GRAFANA_ADMIN_PASSWORD: 'e5'.repeat(32),
} as const;

/** The same for deploy/cluster/.env.example. */
export const CLUSTER_FILLED = {
  ...FILLED,
  REDIS_PASSWORD: 'f6'.repeat(32),
  S3_ACCESS_KEY: `GK${'a7'.repeat(16)}`,
  S3_SECRET_KEY: 'b8'.repeat(32),
  GARAGE_RPC_SECRET: 'c9'.repeat(32),
  PATCHBAY_DEVOPS_SECRET: 'd0'.repeat(32),
} as const;
