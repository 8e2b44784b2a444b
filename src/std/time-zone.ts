// Names of time zones.

/** Whether `name` is a zone of the IANA database, as this machine knows it: `Europe/Oslo`, `UTC`. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false; // A RangeError says that there is no such zone.
  }
}
