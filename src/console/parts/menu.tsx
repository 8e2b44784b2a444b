// A menu of actions: a button with a popover of the browser, which closes by itself on Escape or a click elsewhere.

import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import { Icon, type IconName } from './icon.tsx';

export function Menu({
  label,
  icon = 'more',
  isLabelHidden = false,
  children,
}: {
  /** Name of the button. */
  label: string;
  icon?: IconName;
  isLabelHidden?: boolean;
  children: ReactNode;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <div className="menu">
      <button
        ref={button}
        type="button"
        className="icon-button"
        popoverTarget={id}
        aria-label={isLabelHidden ? label : undefined}
        aria-haspopup="menu"
      >
        <Icon name={icon} />
        {!isLabelHidden && <span className="menu-label">{label}</span>}
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className="menu-list"
        onToggle={({ newState }) => {
          if (newState !== 'open') return;
          place(list.current, button.current);
          itemsIn(list.current)[0]?.focus();
        }}
        onClick={({ target }) => {
          if (target instanceof Element && target.closest('[role^=menuitem]') !== null)
            list.current?.hidePopover();
        }}
        onKeyDown={(event) => moveFocus(event, list.current)}
      >
        {children}
      </div>
    </div>
  );
}

export function MenuItem({
  onSelect,
  isChecked,
  isDisabled = false,
  children,
}: {
  onSelect: () => void;
  /** For a choice among several; undefined for an action. */
  isChecked?: boolean;
  isDisabled?: boolean;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: the role is that of a radio item where it is checked or not
    <button
      type="button"
      role={isChecked === undefined ? 'menuitem' : 'menuitemradio'}
      aria-checked={isChecked}
      disabled={isDisabled}
      onClick={onSelect}
    >
      {children}
      {isChecked === true && <Icon name="check" size={14} />}
    </button>
  );
}

function itemsIn(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('[role^=menuitem]:not(:disabled)') ?? [])];
}

/** Places the list below its button, within the window. */
function place(list: HTMLElement | null, button: HTMLElement | null): void {
  if (list === null || button === null) return;
  const at = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = list;
  const below = at.bottom + 4;
  const isBelow = below + height <= innerHeight;
  list.style.left = `${Math.max(8, Math.min(at.right - width, innerWidth - width - 8))}px`;
  list.style.top = `${isBelow ? below : Math.max(8, at.top - height - 4)}px`;
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

function moveFocus(event: KeyboardEvent, list: HTMLElement | null): void {
  const step = STEPS[event.key];
  const items = itemsIn(list);
  if (step === undefined || items.length === 0) return;
  event.preventDefault();
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + step + items.length) % items.length]?.focus();
}
