# sparsezc on the GPU engine, with the packages of both constraints files. From the top of the repository:
#   docker build -f docs/deploy/cuda.Dockerfile -t sparsezc:cuda13 .
# CuPy's packages bring NVRTC and the CUDA runtime, and the NVIDIA container toolkit the driver: no CUDA base is needed.
FROM python:3.13.9-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY ops ops
COPY semirings semirings
COPY sparsezc sparsezc
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13.9-slim-bookworm
COPY docs/deploy/constraints.txt docs/deploy/constraints-cuda13.txt /tmp/
RUN pip install --no-cache-dir --require-hashes -r /tmp/constraints.txt -r /tmp/constraints-cuda13.txt
COPY --from=build /wheels /tmp/wheels
RUN pip install --no-cache-dir --no-deps /tmp/wheels/*.whl \
    && useradd --create-home --uid 1000 sparsezc \
    && install --directory --owner sparsezc /data
# The toolkit reads these: all cards, and of the driver what computes and what nvidia-smi needs.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000
WORKDIR /data
ENTRYPOINT ["sparsezc"]
CMD ["doctor"]
