// Addresses of recognisers with a websocket.

/** `base` is ws, wss, http or https, with or without a path of its own. */
export function serviceUrl(base: string, path: string): string {
  return `${base.replace(/^http/, 'ws').replace(/\/+$/, '')}${path}`;
}
