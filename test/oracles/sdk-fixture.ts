// What an SDK sends is a fixture: compared with fixtures/wire/<vendor>/<name>.json, written there with ORACLES_RECORD=1.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import { type CapturedRequest, sdkRequest } from '../speech/captured-request.ts';

export const KEY = 'oracle-key-0123456789';

export function expectFixture(name: string, request: CapturedRequest): void {
  if (process.env['ORACLES_RECORD'] === '1') {
    const file = `fixtures/wire/${name}.json`;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(request, null, 2)}\n`);
  }
  expect(request).toEqual(sdkRequest(name));
}
