// Addresses of pages that other pages link to, as wouter's `Link` takes them: below /console.

/** Page of one call, live or past. `atMs`: media time at which it opens, in milliseconds from the call's begin. */
export function callHref(workflowId: string, runId: string, atMs?: number): string {
  const moment = atMs === undefined ? '' : `#t=${(Math.max(0, atMs) / 1_000).toFixed(1)}`;
  return `/runs/${encodeURIComponent(workflowId)}/${encodeURIComponent(runId)}${moment}`;
}
