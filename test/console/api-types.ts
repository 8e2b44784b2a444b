// Writes the types of the API for the console from its description: src/console/api/schema.d.ts, which is not committed.
// The server is built without anything behind it, since no request is made.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { createAccess } from '../../src/api/auth/access.ts';
import { buildServer, type ServerDeps } from '../../src/api/server.ts';
import { createLog } from '../../src/log.ts';
import { systemClock as clock } from '../../src/std/clock.ts';
import { systemRandom as random } from '../../src/std/random.ts';
import { createProviders } from '../../src/telephony/registry/registry.ts';

const path = fileURLToPath(new URL('../../src/console/api/schema.d.ts', import.meta.url));

/** What the routes read while they are declared. */
const declared = {
  store: {},
  textChats: {},
  toolRequests: {},
  callService: {},
  streams: { close: () => undefined },
  log: createLog({ level: 'fatal', pii: false }),
  clock,
  random,
  access: createAccess({ clock, random, isSignUpOpen: true, tokenKeys: [], tokenHours: 1 }),
  hostedProviders: createProviders({ clock, random }).hosted,
  publicUrl: 'http://127.0.0.1:8000',
  trustedProxies: [],
  corsOrigins: '*',
  authProvider: 'local',
  services: { llm: 'scripted', stt: null, tts: 'flite' },
};
const api = await buildServer(declared as unknown as ServerDeps);
const { body } = await api.inject({ method: 'GET', url: '/api/v1/openapi.json' });
const types = `// Made from the API's description by test/console/api-types.ts.\n\n${astToString(await openapiTS(body))}`;
mkdirSync(dirname(path), { recursive: true });
if (!existsSync(path) || readFileSync(path, 'utf8') !== types) writeFileSync(path, types);
await api.close();
