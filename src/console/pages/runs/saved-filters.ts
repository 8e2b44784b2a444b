// Filters that a user saved on this device under a name.

import { useState } from 'react';

export interface SavedFilter {
  name: string;
  /** Query of the address. */
  query: string;
}

const STORED = 'patchbay-run-filters';
/** Filters in the menu; the oldest goes first. */
const SAVED_MAX = 30;
export const NAME_CHARACTERS_MAX = 60;

export function useSavedFilters() {
  const [saved, setSaved] = useState(read);
  const store = (next: SavedFilter[]) => {
    localStorage.setItem(STORED, JSON.stringify(next));
    setSaved(next);
  };
  const others = (name: string) => saved.filter((each) => each.name !== name);
  return {
    saved,
    save: (filter: SavedFilter) => store([...others(filter.name), filter].slice(-SAVED_MAX)),
    remove: (name: string) => store(others(name)),
  };
}

function read(): SavedFilter[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isSaved).slice(-SAVED_MAX) : [];
  } catch {
    return []; // Something else wrote it: it is replaced by the next save.
  }
}

function isSaved(value: unknown): value is SavedFilter {
  const { name, query } = (value ?? {}) as Partial<SavedFilter>;
  return typeof name === 'string' && typeof query === 'string';
}
