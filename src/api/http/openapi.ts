// Credentials of routes in the API's description.

/** Credentials of routes that take an API key in either header. */
export const keyRequired = [{ apiKey: [] }, { bearer: [] }];
/** Credentials of routes that start calls. */
export const agentKeyRequired = [{ apiKey: [] }];
