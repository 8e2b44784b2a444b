// Saved filters: the menu, and the dialog that saves one; and the dialog for the CSV report.

import { type FormEvent, useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Notice } from '../../parts/notice.tsx';
import {
  hasPersonal,
  outsideReport,
  type RunFilters,
  reportHref,
  storedQueryOf,
} from './run-filters.ts';
import { NAME_CHARACTERS_MAX, type SavedFilter, type useSavedFilters } from './saved-filters.ts';

type Saved = ReturnType<typeof useSavedFilters>;

export function SavedMenu({
  saved: { saved },
  onChoose,
  onSave,
}: {
  saved: Saved;
  onChoose: (filter: SavedFilter) => void;
  onSave: () => void;
}) {
  return (
    <Menu label="Saved filters" icon="search">
      {saved.map((filter) => (
        <MenuItem key={filter.name} onSelect={() => onChoose(filter)}>
          {filter.name}
        </MenuItem>
      ))}
      <MenuItem onSelect={onSave}>Save or remove …</MenuItem>
    </Menu>
  );
}

export function SaveDialog({
  filters,
  saved: { saved, save, remove },
  onClose,
}: {
  filters: RunFilters;
  saved: Saved;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const query = storedQueryOf(filters);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save({ name: name.trim(), query });
    onClose();
  };
  return (
    <Dialog title="Saved filters" onClose={onClose}>
      {query === '' ? (
        <p>Set filters first, then save them here under a name.</p>
      ) : (
        <form onSubmit={submit}>
          <TextField
            label="Name"
            value={name}
            onChange={({ target }) => setName(target.value)}
            maxLength={NAME_CHARACTERS_MAX}
            pattern=".*\S.*"
            hint="For the filters that are set now. They stay on this device."
            required
          />
          {hasPersonal(filters) && (
            <Notice tone="info">Words and numbers are not saved: they may be personal.</Notice>
          )}
          <footer className="buttons">
            <button type="submit" className="primary">
              Save
            </button>
          </footer>
        </form>
      )}
      {saved.length > 0 && (
        <ul className="saved-filters" aria-label="Saved filters">
          {saved.map((each) => (
            <li key={each.name}>
              <span>{each.name}</span>
              <button type="button" onClick={() => remove(each.name)}>
                Remove<span className="hidden"> {each.name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

export function ExportDialog({ filters, onClose }: { filters: RunFilters; onClose: () => void }) {
  const ignored = outsideReport(filters);
  return (
    <Dialog title="Download as CSV" onClose={onClose}>
      <p>
        The file has every completed call with a duration that matches the filters, and a column for
        each gathered value.
      </p>
      {ignored.length > 0 && (
        <Notice tone="warn">
          The report cannot filter by {ignored.join(', ')}: it has the calls of all other filters.
        </Notice>
      )}
      <footer className="buttons">
        <a className="button primary" href={reportHref(filters)} download onClick={onClose}>
          Download
        </a>
      </footer>
    </Dialog>
  );
}
