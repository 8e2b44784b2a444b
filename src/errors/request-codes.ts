// Error codes of requests that no route answers: they do not fit a schema, have no route, or are no HTTP. One row per
// code. Texts are the reason phrases of HTTP (RFC 9110), which the contract sends as `detail`.

export const requestErrors = {
  /** The body has the items in place of this text. */
  REQUEST_INVALID: { retry: false, text: 'The request does not fit its schema' },
  BAD_REQUEST: { retry: false, text: 'Bad Request' },
  PATH_NOT_FOUND: { retry: false, text: 'Not Found' },
  METHOD_NOT_ALLOWED: { retry: false, text: 'Method Not Allowed' },
  REQUEST_TIMEOUT: { retry: true, text: 'Request Timeout' },
  BODY_OVERSIZED: { retry: false, text: 'Request body is too large' },
  URI_OVERSIZED: { retry: false, text: 'URI Too Long' },
  EXPECTATION_FAILED: { retry: false, text: 'Expectation Failed' },
  UPGRADE_REQUIRED: { retry: false, text: 'Upgrade Required' },
  HEADERS_OVERSIZED: { retry: false, text: 'Request Header Fields Too Large' },
  /** For metrics and logs only: the client has closed the connection. */
  CLIENT_GONE: { retry: true, text: 'Client Closed Request' },
  INTERNAL_ERROR: { retry: true, text: 'Internal Server Error' },
} as const;
