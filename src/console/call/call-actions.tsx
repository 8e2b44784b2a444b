// What can be done with a call: hang up and press keys while it goes on; save what it left.

import { useState } from 'react';
import { client, queries } from '../api/client.ts';
import { textOf } from '../api/errors.ts';
import { Confirm, Dialog, useAction } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu, MenuItem } from '../parts/menu.tsx';
import { Notice } from '../parts/notice.tsx';
import { chromeTrace, transcriptText } from './call-export.ts';
import type { CallState } from './call-state.ts';
import { type RunAddress, readEvents } from './event-log.ts';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];
/** A file's address is released after the browser has begun to save it. */
const SAVED_MS = 10_000;

export function LiveActions({ run }: { run: RunAddress }) {
  const [open, setOpen] = useState<'hang-up' | 'keys'>();
  const close = () => setOpen(undefined);
  const hangUp = async () => {
    await client.POST('/api/v1/workflow/{workflow_id}/runs/{run_id}/hang-up', {
      params: { path: run },
    });
    await queries.invalidateQueries();
  };
  return (
    <>
      <button type="button" onClick={() => setOpen('keys')}>
        <Icon name="keys" size={14} /> Keys
      </button>
      <button type="button" className="danger" onClick={() => setOpen('hang-up')}>
        <Icon name="hangUp" size={14} /> Hang up
      </button>
      {open === 'hang-up' && (
        <Confirm title="Hang up this call?" action="Hang up" onConfirm={hangUp} onClose={close}>
          <p>The caller is cut off. The run is kept.</p>
        </Confirm>
      )}
      {open === 'keys' && <KeysDialog run={run} onClose={close} />}
    </>
  );
}

function KeysDialog({ run, onClose }: { run: RunAddress; onClose: () => void }) {
  const [digits, setDigits] = useState('');
  const [sent, setSent] = useState('');
  const { run: act, isBusy, fault } = useAction();
  const isValid = /^[0-9*#A-Dw]{1,64}$/.test(digits);
  const press = async () => {
    await client.POST('/api/v1/workflow/{workflow_id}/runs/{run_id}/digits', {
      params: { path: run },
      body: { digits },
    });
    setSent(digits);
    setDigits('');
  };
  return (
    <Dialog title="Press keys in the call" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isValid) void act(press);
        }}
      >
        <TextField
          label="Keys"
          value={digits}
          maxLength={64}
          autoComplete="off"
          hint="0 to 9, *, #, A to D; w waits half a second."
          error={digits !== '' && !isValid ? 'Only these keys can be pressed.' : undefined}
          onChange={({ target }) => setDigits(target.value)}
        />
        <div className="keypad">
          {KEYS.map((key) => (
            <button key={key} type="button" onClick={() => setDigits(digits + key)}>
              {key}
            </button>
          ))}
        </div>
        {fault !== undefined && <Notice tone="bad">{fault}</Notice>}
        {sent !== '' && fault === undefined && <Notice tone="good">Pressed: {sent}</Notice>}
        <footer className="buttons">
          <button type="submit" className="primary" disabled={!isValid || isBusy}>
            Press
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

export function ExportMenu({
  run,
  call,
  recordingUrl,
}: {
  run: RunAddress;
  call: CallState;
  recordingUrl: string | null;
}) {
  const [fault, setFault] = useState<string>();
  const name = `call-${run.run_id}`;
  const saveEvents = () => {
    setFault(undefined);
    readEvents(run).then(
      (log) => save(`${name}-events.json`, JSON.stringify(log.events, null, 1), 'application/json'),
      (error: unknown) => setFault(textOf(error)),
    );
  };
  return (
    <>
      {fault !== undefined && <span className="field-error">{fault}</span>}
      <Menu label="Export" icon="download">
        <MenuItem onSelect={saveEvents}>Events (JSON)</MenuItem>
        {recordingUrl !== null && (
          <MenuItem onSelect={() => saveFrom(recordingUrl, `${name}.wav`)}>
            Recording (WAV)
          </MenuItem>
        )}
        <MenuItem onSelect={() => save(`${name}.txt`, transcriptText(call), 'text/plain')}>
          Transcript (text)
        </MenuItem>
        <MenuItem
          onSelect={() =>
            save(`${name}-trace.json`, JSON.stringify(chromeTrace(call)), 'application/json')
          }
        >
          Trace (Chrome, Perfetto)
        </MenuItem>
      </Menu>
    </>
  );
}

function save(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  saveFrom(address, name);
  setTimeout(() => URL.revokeObjectURL(address), SAVED_MS);
}

function saveFrom(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
