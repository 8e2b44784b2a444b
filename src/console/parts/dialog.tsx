// Dialogs of the browser: it keeps the focus within them and closes them on Escape.

import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { useAction } from './action.tsx';
import { Icon } from './icon.tsx';

/** A modal dialog, open for as long as it is rendered. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current } = dialog;
    if (current?.open === false) current.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header className="dialog-header">
        <h2 id={id}>{title}</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}

/** Asks before something that cannot be taken back. `onConfirm` may reject: the error is shown. */
export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** Name of the button that does it: `Hang up`. */
  action: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}) {
  const { run, isBusy, notice } = useAction();
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {notice}
      <footer className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="danger"
          disabled={isBusy}
          onClick={() => void run(onConfirm).then((isDone) => isDone && onClose())}
        >
          {action}
        </button>
      </footer>
    </Dialog>
  );
}

/** A form in a dialog, which closes after it was sent. `onSubmit` may reject: the error is shown, and the dialog stays. */
export function FormDialog({
  title,
  action,
  busyAction = action,
  isDisabled = false,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  /** Name of the button that sends the form, and what it says meanwhile. */
  action: string;
  busyAction?: string;
  isDisabled?: boolean;
  onSubmit: (form: FormData) => Promise<unknown>;
  onClose: () => void;
  /** The fields, or a function that gets their errors. */
  children: ReactNode | ((errors: Readonly<Record<string, string>>) => ReactNode);
}) {
  const { run, isBusy, notice, fields } = useAction();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    if (await run(() => onSubmit(form))) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        {typeof children === 'function' ? children(fields) : children}
        <FormEnd
          notice={notice}
          action={isBusy ? busyAction : action}
          isDisabled={isBusy || isDisabled}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** The end of a form in a dialog: the error of its action, a button that closes it, and the one that sends it. */
export function FormEnd({
  notice,
  action,
  isDisabled,
  onClose,
}: {
  /** The action's. */
  notice: ReactNode;
  /** Name of the button that sends the form. */
  action: string;
  isDisabled: boolean;
  onClose: () => void;
}) {
  const footer = useRef<HTMLElement>(null);
  const isRefused = Boolean(notice);
  // The field that is at fault may be out of sight in a long form.
  useEffect(() => {
    if (!isRefused) return;
    const form = footer.current?.closest('form');
    form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [isRefused]);
  return (
    <>
      {notice}
      <footer ref={footer} className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="primary" disabled={isDisabled}>
          {action}
        </button>
      </footer>
    </>
  );
}
