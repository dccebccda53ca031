# sparsezc on the CPU engine, with the packages of constraints.txt. From the top of the repository:
#   docker build -f docs/deploy/cpu.Dockerfile -t sparsezc .
FROM python:3.13.9-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY ops ops
COPY semirings semirings
COPY sparsezc sparsezc
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13.9-slim-bookworm
COPY docs/deploy/constraints.txt /tmp/
RUN pip install --no-cache-dir --require-hashes -r /tmp/constraints.txt
COPY --from=build /wheels /tmp/wheels
RUN pip install --no-cache-dir --no-deps /tmp/wheels/*.whl \
    && useradd --create-home --uid 1000 sparsezc \
    && install --directory --owner sparsezc /data
USER 1000
WORKDIR /data
ENTRYPOINT ["sparsezc"]
CMD ["doctor"]
