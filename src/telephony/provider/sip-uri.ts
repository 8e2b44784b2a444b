// The comparable form of SIP URIs. Source: RFC 3261, 19.1.4 (comparison) and 25.1 (grammar); contract §4.3, which drops
// the default port.

const SIP =
  /^(sips?):(?:([^\s@<>"]+)@)?(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?(;[^\s<>"?]*)?(\?[^\s<>"]*)?$/i;
const defaultPort: Readonly<Record<string, string>> = { sip: '5060', sips: '5061' };
const ESCAPED = /%[0-9a-f]{2}/gi;
/** Characters that mean the same with and without an escape (RFC 3986, 2.3). */
const UNRESERVED = /[A-Za-z0-9._~-]/;

/** Equal for URIs that address the same: the user keeps its case, other parts do not depend on it; parameters and
 *  headers are in one order. Undefined for what is not a SIP URI. */
export function sipUriForm(text: string): string | undefined {
  const parts = SIP.exec(text);
  if (parts === null) return undefined;
  const [, scheme = '', user, host = '', port, parameters = '', headers = ''] = parts;
  const lowerScheme = scheme.toLowerCase();
  const at = user === undefined ? '' : `${unescaped(user)}@`;
  const shownPort = port === undefined || port === defaultPort[lowerScheme] ? '' : `:${port}`;
  const shownParameters = inOrder(parameters.slice(1).toLowerCase(), ';');
  const shownHeaders = inOrder(headers.slice(1), '&');
  return [
    `${lowerScheme}:${at}${host.toLowerCase()}${shownPort}`,
    shownParameters === '' ? '' : `;${shownParameters}`,
    shownHeaders === '' ? '' : `?${shownHeaders}`,
  ].join('');
}

function inOrder(list: string, separator: string): string {
  const parts = list.split(separator).filter((part) => part !== '');
  return parts.map(unescaped).sort().join(separator);
}

/** Without escapes that have no effect; the digits of the others are capitals. */
function unescaped(text: string): string {
  return text.replace(ESCAPED, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return UNRESERVED.test(character) ? character : escaped.toUpperCase();
  });
}
