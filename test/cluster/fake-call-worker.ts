// A call worker for tests of the requests to it: its answers name it and what it was asked.

import type { CallWorker } from '../../src/cluster/worker-calls.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';

export type FakeWorker = { -readonly [K in keyof CallWorker]: CallWorker[K] };

export function fakeWorker(number: number): FakeWorker {
  const reply = (words: unknown[]) => ({
    status: 200,
    contentType: 'text/xml',
    body: JSON.stringify([number, ...words]),
  });
  return {
    calls: 0,
    activeCalls: 0,
    takesCalls: true,
    stt: null,
    applications: [],
    pbxs: [],
    start: async ({ phoneNumber }) => ({ runId: String(number), runName: phoneNumber }),
    startTest: async ({ workflowId }) => ({ runId: String(number), runName: workflowId }),
    startWeb: async ({ workflowId, origin }) => ({
      runId: String(number),
      runName: workflowId,
      token: String(origin),
    }),
    place: async ({ to }) => (to === '+1' ? 'placed' : 'put-off'),
    outcomeAfterCrash: async (runId) => (runId === '9' ? 'there' : 'busy'),
    examine: async ({ numbers, publicUrl, organizationId, configurationId, ...rest }) => [
      {
        key: `${organizationId}/${configurationId} ${Object.keys(rest).join()}`,
        title: publicUrl,
        verdict: 'pass',
        message: numbers.join(),
        advice: null,
      },
    ],
    testLine: async ({ organizationId, configurationId, line }) => ({
      fault: 'keys',
      message: `${organizationId}/${configurationId} ${line.number}`,
      delayMs: 40,
      lossShare: 0,
      codec: 'PCMU',
    }),
    wakePbxs: () => undefined,
    noteAdopted: () => undefined,
    inbound: async ({ rawBody, form }, workflowId) =>
      reply([rawBody.toString(), form['CallSid'], workflowId]),
    answerAgain: async (runId) => runId === '9',
    answer: async (name, runId) => reply([name, runId]),
    resume: async (name, runId) => reply(['resume', name, runId]),
    wait: async (name, runId) => reply(['wait', name, runId]),
    resumeLeft: async (runId) => runId === '9',
    event: () => Promise.reject(new GatewayError('WEBHOOK_SIGNATURE')),
    accountEvent: async (name, { rawBody }) => reply([name, rawBody.toString()]),
    runOfAccountEvent: async (_name, { rawBody }) => ({ runId: rawBody.toString() }),
    hangUp: () => Promise.reject(new GatewayError('RUN_NOT_FOUND')),
    sendDigits: ({ digits }) =>
      digits === '12#' ? Promise.resolve() : Promise.reject(new GatewayError('CALL_NOT_TALKING')),
  };
}
