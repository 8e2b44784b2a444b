// Parts of Asterisk's dial strings. Source: asterisk §4.2.

/** The endpoint of `TECHNOLOGY/[number@]endpoint[/more]`, without IAX2's credentials and port; the context for a Local
 *  channel. Undefined for a string of another form. */
export function endpointIn(dialString: string): { technology: string; name: string } | undefined {
  const [, technology, target = ''] = /^(\w+)\/([^/]*)/.exec(dialString) ?? [];
  if (technology === undefined) return undefined;
  const name = target.slice(target.lastIndexOf('@') + 1).replace(/:\d+$/, '');
  return { technology, name };
}

/** A dial string for display, without the password that IAX2 allows in it. */
export function withoutPassword(dialString: string): string {
  return dialString.replace(/^(\w+\/[^/@:]*):[^/]*@/, '$1:...@');
}
