# The gateway with its embedded services. Data lies in the volume /data.
#   docker build -t patchbay .
#   docker run -p 8000:8000 -v patchbay:/data -e PATCHBAY_PUBLIC_URL=https://gw.example.com patchbay

# Base images by digest of the index of all platforms: docker buildx imagetools inspect node:24-bookworm shows a newer
# one. Both have the same release of Node, as the addon is built by one and run by the other.

# Not the slim image: it has the compiler that makes the native addon.
FROM node:24.21.0-bookworm@sha256:64af3819f9275802414d7cdc38c27e9d82bd564dec4d4da87d008255d36c63b4 AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json ./
COPY scripts scripts
COPY native native
COPY src src
RUN npm run build:native && npm run build && npm prune --omit=dev

FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
RUN apt-get update \
  && apt-get install -y --no-install-recommends libpocketsphinx3 pocketsphinx-en-us \
  && rm -rf /var/lib/apt/lists/* \
  && install -d -o node -g node /data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY scripts/patchbay.mjs scripts/patchbay.mjs
COPY LICENSE README.md ./
COPY native/NOTICE.md native/NOTICE.md
ENV NODE_ENV=production PATCHBAY_DATA=/data
USER node
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PATCHBAY_PORT || 8000}/live`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Running calls may finish: give `docker stop` as long as PATCHBAY_DRAIN_SECONDS (300 by default) and
# PATCHBAY_DRAIN_GRACE_SECONDS (0) together.
STOPSIGNAL SIGTERM
CMD ["node", "dist/main.js"]
