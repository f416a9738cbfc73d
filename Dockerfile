# Stages: compile, install what runs, and the image, which holds nothing else. Without --target it is the unprivileged one.
# To pin the base to what was tested, build with
#   --build-arg NODE_IMAGE=node:24-slim@sha256:<digest>   (docker buildx imagetools inspect node:24-slim)
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json CHANGELOG.md ./
COPY src ./src
RUN npm run build
# The modes are those of the checkout, which its owner alone may be able to read, or others to change.
RUN chmod -R u=rwX,go=rX dist package.json

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM ${NODE_IMAGE} AS gateway
WORKDIR /app
# The only place that is written to; everything else may be read-only. A volume made from it keeps owner and mode.
RUN mkdir -m 0700 /data && chown node:node /data
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/package.json ./
RUN ln -s /app/dist/main.js /usr/local/bin/gps-fleet-gateway
ENV NODE_ENV=production
ENV DATA_DIR=/data
# Nothing outside of a container reaches its 127.0.0.1.
ENV OPS_HOST=0.0.0.0
USER node
VOLUME /data
EXPOSE 3000 9091
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "const { HOST = '', PORT } = process.env, host = HOST.trim(), isAny = /^(0\\.0\\.0\\.0|::)?$/.test(host); require('node:http').get({ host: isAny ? '127.0.0.1' : host, port: Number(PORT) || 3000, path: '/api/health' }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# As many helpers for collecting garbage as there are cores to spare: with more of them, the event loop waits its turn.
CMD ["node", "--v8-pool-size=0", "dist/main.js"]

# For Fly.io, whose volumes belong to root: gives the volume to the user, and becomes that user before the gateway starts.
FROM gateway AS fly
USER root
ENTRYPOINT ["sh", "-c", "chown -R node:node /data && exec setpriv --reuid=node --regid=node --clear-groups --no-new-privs -- \"$@\"", "--"]
CMD ["node", "--v8-pool-size=0", "dist/main.js"]

FROM gateway
