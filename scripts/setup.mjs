// Makes a fresh clone ready (prepare.mjs says how), unless Node is too old. Plain Node, so that it runs before anything
// is installed; in this file also for versions of Node that cannot read the others.

const NODE_MIN = [20, 19];

if (isNewEnough(process.versions.node)) void import('./prepare.mjs');
else {
  console.error(
    `[set-up] Node ${NODE_MIN.join('.')} or newer is needed; this is ${process.versions.node}.`,
  );
  process.exit(1);
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
}
