// How the API's description says which credentials a route takes.

/** For routes that take an API key in either header. */
export const keyRequired = [{ apiKey: [] }, { bearer: [] }];
/** For starts of calls. */
export const agentKeyRequired = [{ apiKey: [] }];
