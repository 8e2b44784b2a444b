// The first step of a new campaign: its name and its file, of which it shows the first rows and what is wrong with it.

import { useState } from 'react';
import { textOf } from '../../api/errors.ts';
import { formatNumber } from '../../format.ts';
import { Field, TextField } from '../../parts/field.tsx';
import { Notice } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/page.tsx';
import type { Draft } from './campaign-draft.ts';
import {
  type ContactFault,
  type ContactPreview,
  type ContactRow,
  previewOf,
} from './contact-preview.ts';

export function ContactStep({
  draft,
  change,
  file,
  preview,
  onFile,
}: {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  file: File | undefined;
  preview: ContactPreview | undefined;
  onFile: (file: File | undefined, preview: ContactPreview | undefined) => void;
}) {
  const [fault, setFault] = useState<string>();
  const choose = async (chosen: File | undefined) => {
    setFault(undefined);
    onFile(chosen, undefined);
    if (chosen === undefined) return;
    try {
      onFile(chosen, await previewOf(chosen));
    } catch (error) {
      setFault(textOf(error));
    }
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
        hint="CSV with a column phone_number, numbers with + and the country code, and a column for each template variable of the agent."
      >
        {(ids) => (
          <input
            {...ids}
            type="file"
            accept=".csv,text/csv"
            required={file === undefined}
            onChange={({ target }) => void choose(target.files?.[0])}
          />
        )}
      </Field>
      {file !== undefined && preview !== undefined && (
        <Preview name={file.name} preview={preview} />
      )}
    </>
  );
}

const FAULT_COLUMNS: readonly Column<ContactFault>[] = [
  { name: 'Row', cell: ({ row }) => row ?? '' },
  { name: 'Column', cell: ({ column }) => column ?? '' },
  { name: 'What is wrong', cell: ({ text }) => text },
];

function Preview({ name, preview }: { name: string; preview: ContactPreview }) {
  const { columns, rows, contacts, faults, furtherFaults } = preview;
  const shown: Column<ContactRow>[] = [
    { name: 'Row', cell: ({ number }) => number },
    ...columns.map((column, at) => ({
      name: column === '' ? `(column ${at + 1})` : column,
      cell: ({ cells }: ContactRow) => cells[at] ?? '',
    })),
  ];
  return (
    <>
      {faults.length > 0 ? (
        <>
          <Notice tone="bad">Correct the file and choose it again.</Notice>
          <Table
            caption="Faults of the file"
            columns={FAULT_COLUMNS}
            rows={faults}
            keyOf={({ row, column, text }) => `${row} ${column} ${text}`}
            empty=""
          />
          {furtherFaults > 0 && (
            <p className="soft gap">and {formatNumber(furtherFaults)} further faults</p>
          )}
        </>
      ) : (
        <Notice tone="good">
          {name}: {formatNumber(contacts)} {contacts === 1 ? 'contact' : 'contacts'}
        </Notice>
      )}
      <h3 className="gap">First rows</h3>
      <Table
        caption="First rows of the file"
        columns={shown}
        rows={rows}
        keyOf={({ number }) => String(number)}
        empty="The file has no rows."
      />
    </>
  );
}
