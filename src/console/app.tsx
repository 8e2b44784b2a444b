// The console's frame: log-in, navigation, and the page of the address.

import { type ReactNode, useEffect, useLayoutEffect, useState } from 'react';
import { Link, matchRoute, Route, Router, Switch, useLocation, useRouter } from 'wouter';
import { queries } from './api/client.ts';
import { textOf } from './api/errors.ts';
import { loadSession, logOut, type Session, useSession } from './api/session.ts';
import { LogInPage } from './pages/log-in-page.tsx';
import { PAGES } from './pages.ts';
import { Crash } from './parts/crash.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Icon } from './parts/icon.tsx';
import { Menu, MenuItem } from './parts/menu.tsx';
import { Busy, Notice } from './parts/notice.tsx';
import { Page } from './parts/page.tsx';
import { chooseTheme, chosenTheme, THEMES } from './theme.ts';

const BASE = '/console';

export function App() {
  const session = useSession();
  const [fault, setFault] = useState<string>();
  const { parser } = useRouter();
  // Before the browser paints: the page comes while the gateway says who is logged in.
  useLayoutEffect(() => {
    loadSession().catch((error: unknown) => setFault(textOf(error)));
    const path = location.pathname.slice(BASE.length) || '/';
    const page = PAGES.find((each) => matchRoute(parser, each.path, path)[0])?.page;
    if (page !== undefined && 'load' in page) page.load().catch(() => undefined); // The page itself says that it cannot be loaded.
  }, [parser]);
  // The next user may be of another organization.
  useEffect(() => {
    if (session.status === 'out') queries.clear();
  }, [session.status]);
  if (fault !== undefined)
    return (
      <Notice tone="bad">
        {fault}{' '}
        <button type="button" className="link" onClick={() => location.reload()}>
          Load it again
        </button>
      </Notice>
    );
  if (session.status === 'unknown') return <Busy />;
  if (session.status === 'out') return <LogInPage />;
  return (
    <Router base={BASE}>
      <Frame session={session.session}>
        <Switch>
          {PAGES.map(({ path, page }) => (
            <Route key={path} path={path} component={page} />
          ))}
          <Route>
            <Page title="Not found">
              <Notice tone="bad">This page does not exist.</Notice>
            </Page>
          </Route>
        </Switch>
      </Frame>
    </Router>
  );
}

function Frame({ session, children }: { session: Session; children: ReactNode }) {
  const [location] = useLocation();
  const [isOpen, setOpen] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu of small screens closes on each page
  useEffect(() => setOpen(false), [location]);
  return (
    <div className="frame">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="bar">
        <button
          type="button"
          className="icon-button only-small"
          aria-expanded={isOpen}
          aria-controls="navigation"
          aria-label="Menu"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="menu" />
        </button>
        <Link href="/" className="brand">
          Patchbay
        </Link>
        <UserMenu session={session} />
      </header>
      <Navigation isOpen={isOpen} location={location} />
      <main id="content" tabIndex={-1}>
        <Crash key={location}>{children}</Crash>
      </main>
    </div>
  );
}

function Navigation({ isOpen, location }: { isOpen: boolean; location: string }) {
  return (
    <nav id="navigation" className="navigation" data-open={isOpen} aria-label="Pages">
      <ul>
        {PAGES.map(({ path, name, icon }) =>
          name === undefined ? null : (
            <li key={path}>
              <Link href={path} aria-current={isWithin(location, path) ? 'page' : undefined}>
                {icon && <Icon name={icon} />}
                {name}
              </Link>
            </li>
          ),
        )}
      </ul>
    </nav>
  );
}

function isWithin(location: string, path: string): boolean {
  return path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`);
}

function UserMenu({ session: { user, version } }: { session: Session }) {
  const [theme, setTheme] = useState(chosenTheme());
  const [fault, setFault] = useState<string>();
  const leave = () => logOut().catch((error: unknown) => setFault(textOf(error)));
  const name = user.name ?? user.email ?? `User ${user.id}`;
  return (
    <>
      <Menu label="Account" icon="user">
        <p className="menu-note">{name}</p>
        {THEMES.map((each) => (
          <MenuItem
            key={each}
            isChecked={theme === each}
            onSelect={() => {
              chooseTheme(each);
              setTheme(each);
            }}
          >
            {`Theme: ${each}`}
          </MenuItem>
        ))}
        <MenuItem onSelect={() => window.open('/docs', '_blank', 'noopener')}>
          API reference
        </MenuItem>
        <MenuItem onSelect={() => void leave()}>Log out</MenuItem>
        <p className="menu-note">Patchbay {version}</p>
      </Menu>
      {fault !== undefined && (
        <Dialog title="You are still logged in" onClose={() => setFault(undefined)}>
          <Notice tone="bad">{fault} Log out again.</Notice>
        </Dialog>
      )}
    </>
  );
}
