// URLs of recognisers with a websocket.

/** `base`: ws, wss, http or https URL, with or without a path of its own. */
export function serviceUrl(base: string, path: string): string {
  return `${base.replace(/^http/, 'ws').replace(/\/+$/, '')}${path}`;
}
