// Loaded before a gateway by tests: its wall clock is off by SKEW_MS, as that of a machine whose time nobody sets.

const now = Date.now.bind(Date);
const skewMs = Number(process.env.SKEW_MS);
Date.now = () => now() + skewMs;
