// What the status of another system's answer says about the request. Source: contract §8.7.

/** Why the request failed, for the model and the author; undefined for a success. */
export function failureOf(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 500) return `The server failed (status ${status}).`;
  if (status >= 400) return `The server refused the request (status ${status}).`;
  return `The server redirects the request, and redirects are not followed (status ${status}).`;
}
