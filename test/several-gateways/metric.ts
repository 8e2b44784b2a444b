// Figures in the text of a gateway's metrics.

/** Sum of all series whose name matches; 0 if there are none. */
export function metricOf(text: string, name: RegExp): number {
  return text
    .split('\n')
    .filter((line) => name.test(line))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
