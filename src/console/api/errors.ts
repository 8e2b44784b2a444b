// Errors of the API for people: the gateway's text, its code, and which field of a form is meant.

export class ApiError extends Error {
  readonly status: number;
  /** The gateway's stable code: `RUN_NOT_FOUND`; undefined if a proxy answered. */
  readonly code: string | undefined;
  /** Texts by the path of a field in the request's body: `config.auth_token`. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(
    message: string,
    options: { status: number; code?: string | undefined; fields?: Record<string, string> },
  ) {
    super(message);
    this.status = options.status;
    this.code = options.code;
    this.fields = options.fields ?? {};
  }
}

interface ErrorBody {
  detail?: unknown;
  message?: unknown;
  code?: unknown;
  errors?: unknown;
}

export async function toApiError(response: Response): Promise<ApiError> {
  const { status, statusText } = response;
  const body = (await response.json().catch(() => ({}))) as ErrorBody;
  const code = typeof body.code === 'string' ? body.code : undefined;
  if (Array.isArray(body.detail)) {
    const fields = fieldsOf(body.detail);
    const message = Object.entries(fields).map(([field, text]) =>
      field === '' ? text : `${field}: ${text}`,
    );
    return new ApiError(message.join('\n'), { status, code, fields });
  }
  const text = [body.detail, body.message].find((each) => typeof each === 'string');
  return new ApiError(text ?? `The gateway answered ${status} ${statusText}`, { status, code });
}

/** Items of validation: `{ loc: ['body', 'config', 'auth_token'], msg }`. */
function fieldsOf(items: readonly unknown[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const item of items) {
    const { loc, msg, message } = item as { loc?: unknown; msg?: unknown; message?: unknown };
    const path = Array.isArray(loc) ? loc.slice(1).join('.') : '';
    fields[path] ??= String(msg ?? message ?? 'not valid');
  }
  return fields;
}

/** The text of any error that a page shows. */
export function textOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return 'The gateway did not answer in time. Look whether it was done, then try again.';
  if (error instanceof TypeError)
    return 'The gateway cannot be reached. Check the connection and whether the gateway runs, then try again.';
  return error instanceof Error ? error.message : String(error);
}
