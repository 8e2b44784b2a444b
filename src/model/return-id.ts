// Id of the return of a call's far end to it, in place of the run's id: the subject of the token with which a browser may
// open another socket for a call that goes on.

const RETURN_ID = /^(\d{1,19})-return$/;

export function returnIdOf(runId: string): string {
  return `${runId}-return`;
}

/** The run of such an id; undefined for any other id. */
export function runOfReturnId(id: string): string | undefined {
  return RETURN_ID.exec(id)?.[1];
}
