// Methods of each path, so that a wrong method gets 405 and a wrong path 404 (Fastify only has "no route").

interface KnownPath {
  pattern: RegExp;
  methods: Set<string>;
}

export interface AllowedMethods {
  /** Adds a route. `url` is a route's pattern: `:name` and `*` match anything. */
  add(url: string, methods: readonly string[]): void;
  /** Methods of the routes with this path, with or without a slash at its end. Empty if there is none. */
  methodsAt(path: string): string[];
}

export function knownPaths(): AllowedMethods {
  const known = new Map<string, KnownPath>();
  return {
    add(url, methods) {
      const entry = known.get(url) ?? { pattern: patternOf(url), methods: new Set() };
      known.set(url, entry);
      for (const method of methods) entry.methods.add(method);
    },
    methodsAt(path) {
      const methods = new Set<string>();
      for (const entry of known.values()) {
        // The wildcard route of preflights matches everything.
        if (entry.pattern.source === '^.*$' || !entry.pattern.test(path)) continue;
        for (const method of entry.methods) methods.add(method);
      }
      return [...methods];
    },
  };
}

function patternOf(url: string): RegExp {
  if (url === '*') return /^.*$/;
  const pieces = url
    .replace(/\/$/, '')
    .split('/')
    .map((piece) => {
      if (piece.startsWith(':')) return '[^/]+';
      return piece === '*' ? '.*' : piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    });
  return new RegExp(`^${pieces.join('/')}/?$`);
}
