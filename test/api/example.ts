// A request that does its work in the organization of world.ts.

export interface Example {
  /** Values for the pieces of the path. */
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
  /** What another organization's key gets; 404 where the request names a row of the owner's, else the
   *  status that its own rows get. */
  foreign?: number;
}
