// The first step of a new campaign: its name and its file, of which it shows the first rows and what is wrong with it.

import { counted, formatNumber } from '../../format.ts';
import { useAction } from '../../parts/action.tsx';
import { Field, TextField } from '../../parts/field.tsx';
import { Busy, Notice } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/page.tsx';
import type { Draft } from './campaign-draft.ts';
import type { ContactPreview } from './contact-preview.ts';
import { uploadContacts } from './contact-upload.ts';

/** A contact file that is at the gateway. */
export interface Contacts {
  name: string;
  /** Its key for a campaign. */
  sourceId: string;
}

type ContactRow = ContactPreview['rows'][number];
type ContactFault = ContactPreview['faults'][number];

export function ContactStep({
  draft,
  change,
  contacts,
  onContacts,
}: {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  contacts: Contacts | undefined;
  onContacts: (contacts: Contacts | undefined) => void;
}) {
  const { run, isBusy, fault } = useAction();
  const choose = (file: File | undefined) => {
    onContacts(undefined);
    void run(async () => {
      if (file === undefined) return;
      if (file.size === 0) throw new Error('The file is empty.');
      onContacts({ name: file.name, sourceId: await uploadContacts(file) });
    });
  };
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        onChange={({ target }) => change({ name: target.value })}
        maxLength={255}
        pattern=".*\S.*"
        required
      />
      <Field
        label="Contact file"
        error={fault}
        hint="CSV of at most 10 MB with a column phone_number, numbers with + and the country code, and a column for each template variable of the agent."
      >
        {(ids) => (
          <input
            {...ids}
            type="file"
            accept=".csv,text/csv"
            required={contacts === undefined}
            disabled={isBusy}
            onChange={({ target }) => choose(target.files?.[0])}
          />
        )}
      </Field>
      {isBusy && <Busy label="Uploading the file" />}
    </>
  );
}

const FAULT_COLUMNS: readonly Column<ContactFault>[] = [
  { name: 'Row', cell: ({ row }) => row ?? '' },
  { name: 'Column', cell: ({ column }) => column ?? '' },
  { name: 'What is wrong', cell: ({ message }) => message },
  { name: 'What to do', cell: ({ remedy }) => remedy },
];

/** What is wrong with the file, or how many contacts it has. */
export function ContactFaults({ name, preview }: { name: string; preview: ContactPreview }) {
  const { contact_count: contacts, faults, fault_count: faultCount } = preview;
  if (faultCount === 0)
    return (
      <Notice tone="good">
        {name}: {counted(contacts, 'contact')}
      </Notice>
    );
  return (
    <>
      <Notice tone="bad">Correct the file and choose it again.</Notice>
      <Table
        caption="Faults of the file"
        columns={FAULT_COLUMNS}
        rows={faults}
        keyOf={({ row, column, code, message }) => `${row} ${column} ${code} ${message}`}
        empty=""
      />
      {faultCount > faults.length && (
        <p className="soft gap">and {formatNumber(faultCount - faults.length)} further faults</p>
      )}
    </>
  );
}

export function FirstRows({ preview: { columns, rows } }: { preview: ContactPreview }) {
  const shown: Column<ContactRow>[] = [
    { name: 'Row', cell: ({ row }) => row },
    ...columns.map((column, at) => ({
      name: column === '' ? `(column ${at + 1})` : column,
      cell: ({ cells }: ContactRow) => cells[at] ?? '',
    })),
  ];
  return (
    <>
      <h3 className="gap">First rows</h3>
      <Table
        caption="First rows of the file"
        columns={shown}
        rows={rows}
        keyOf={({ row }) => String(row)}
        empty="The file has no rows."
      />
    </>
  );
}
