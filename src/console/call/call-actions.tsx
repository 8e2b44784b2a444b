// What can be done with a call: hang up and press keys while it goes on; save what it left.

import { useState } from 'react';
import { queries } from '../api/client.ts';
import { textOf } from '../api/errors.ts';
import { useAction } from '../parts/action.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu, MenuItem } from '../parts/menu.tsx';
import { Notice } from '../parts/notice.tsx';
import { saveFrom, saveText } from '../parts/save-file.ts';
import { DIGITS, DIGITS_HINT, hangUpCall, KEYPAD, sendDigits } from './call-control.ts';
import { chromeTrace, transcriptText } from './call-export.ts';
import type { CallState } from './call-state.ts';
import { type RunAddress, readEvents } from './event-log.ts';

const VALID = new RegExp(`^${DIGITS}$`);

export function LiveActions({ run }: { run: RunAddress }) {
  const [open, setOpen] = useState<'hang-up' | 'keys'>();
  const close = () => setOpen(undefined);
  const hangUp = async () => {
    await hangUpCall(run);
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
          <p>The caller is disconnected. The run is kept.</p>
        </Confirm>
      )}
      {open === 'keys' && <KeysDialog run={run} onClose={close} />}
    </>
  );
}

function KeysDialog({ run, onClose }: { run: RunAddress; onClose: () => void }) {
  const [digits, setDigits] = useState('');
  const [sent, setSent] = useState('');
  const { run: act, isBusy, notice } = useAction();
  const isValid = VALID.test(digits);
  const press = async () => {
    await sendDigits(run, digits);
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
          hint={DIGITS_HINT}
          error={digits !== '' && !isValid ? 'Only these keys can be pressed.' : undefined}
          onChange={({ target }) => setDigits(target.value)}
        />
        <div className="keypad">
          {KEYPAD.map((key) => (
            <button key={key} type="button" onClick={() => setDigits(digits + key)}>
              {key}
            </button>
          ))}
        </div>
        {notice}
        {sent !== '' && notice === null && <Notice tone="good">Pressed: {sent}</Notice>}
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
      (log) =>
        saveText(`${name}-events.json`, JSON.stringify(log.events, null, 1), 'application/json'),
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
        <MenuItem onSelect={() => saveText(`${name}.txt`, transcriptText(call), 'text/plain')}>
          Transcript (text)
        </MenuItem>
        <MenuItem
          onSelect={() =>
            saveText(`${name}-trace.json`, JSON.stringify(chromeTrace(call)), 'application/json')
          }
        >
          Trace (Chrome, Perfetto)
        </MenuItem>
      </Menu>
    </>
  );
}
