// The result of the real-PBX run: mode x feature x outcome, as a table in Markdown.

export interface Outcome {
  mode: string;
  feature: string;
  result: 'ok' | 'FAILED' | 'skipped';
  /** What was measured, what is wrong, or why it was skipped. */
  text: string;
}

export function tableOf(outcomes: readonly Outcome[]): string {
  const modes = [...new Set(outcomes.map(({ mode }) => mode))];
  const features = [...new Set(outcomes.map(({ feature }) => feature))];
  const cell = (feature: string, mode: string): string => {
    const found = outcomes.find((each) => each.feature === feature && each.mode === mode);
    return found === undefined ? '' : `${found.result}: ${found.text.replaceAll('|', '/')}`;
  };
  return [
    row(['feature', ...modes]),
    row(['---', ...modes.map(() => '---')]),
    ...features.map((feature) => row([feature, ...modes.map((mode) => cell(feature, mode))])),
  ].join('\n');
}

/** 0: everything that was tried works, and something was tried. */
export function exitCodeOf(outcomes: readonly Outcome[]): number {
  const isAnyOk = outcomes.some(({ result }) => result === 'ok');
  return isAnyOk && !outcomes.some(({ result }) => result === 'FAILED') ? 0 : 1;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
