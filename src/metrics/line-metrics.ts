// Metrics of watched lines: series of each line, named by its id, as long as it is watched. The gateway that made a line's
// last test call exports it. The remedy is a label, so that an alert can say it: one series of a line has it at a time.

import { Counter, Gauge } from 'prom-client';
import { registry } from './metrics.ts';

const registers = [registry];
const labelNames = ['line', 'kind'] as const;

const lineOk = new Gauge({
  name: 'patchbay_line_ok',
  help: '1 while the test calls of a watched line find no fault, 0 while it fails or one test call has failed; by id of the line and kind: pbx, number or trunk',
  labelNames,
  registers,
});
const lineFault = new Gauge({
  name: 'patchbay_line_fault',
  help: '1 while a watched line fails, with the fault and what corrects it; absent while it does not',
  labelNames: [...labelNames, 'fault', 'remedy'] as const,
  registers,
});
const lineDelay = new Gauge({
  name: 'patchbay_line_delay_seconds',
  help: 'Delay of the audio in the last test call of a watched line: one way, or there and back over the echo of a trunk',
  labelNames,
  registers,
});
const lineLoss = new Gauge({
  name: 'patchbay_line_loss_ratio',
  help: 'Share of the audio that did not arrive in the last test call of a watched line',
  labelNames,
  registers,
});
export const lineTests = new Counter({
  name: 'patchbay_line_tests_total',
  help: 'Test calls of watched lines, by kind and result: ok, fault, or skipped (the places were taken, the gateway stops, or another examination runs)',
  labelNames: ['kind', 'result'] as const,
  registers,
});

export interface ShownLine {
  id: string;
  kind: string;
  isOk: boolean;
  /** Undefined while the line does not fail. */
  fault: { code: string; remedy: string } | undefined;
  delayMs: number | null;
  lossShare: number | null;
}

/** Replaces the series of all lines: those of a removed line end. */
export function showLines(lines: readonly ShownLine[]): void {
  for (const gauge of [lineOk, lineFault, lineDelay, lineLoss]) gauge.reset();
  for (const { id: line, kind, isOk, fault, delayMs, lossShare } of lines) {
    lineOk.set({ line, kind }, isOk ? 1 : 0);
    if (fault !== undefined)
      lineFault.set({ line, kind, fault: fault.code, remedy: fault.remedy }, 1);
    if (delayMs !== null) lineDelay.set({ line, kind }, delayMs / 1_000);
    if (lossShare !== null) lineLoss.set({ line, kind }, lossShare);
  }
}
