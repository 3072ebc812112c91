# `docker build -t reflex . && docker run --rm -v "$PWD/results:/results" reflex bench alfworld --trials 3`
# The first stage has a compiler, for two dependencies of ALFWorld's own engine; the image that is kept has none.
ARG PYTHON=3.13
FROM python:${PYTHON}-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc g++ make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN python -m venv /opt/reflex \
    && /opt/reflex/bin/pip install --no-cache-dir --quiet -c constraints.txt '.[official]'

FROM python:${PYTHON}-slim
RUN useradd --create-home reflex && mkdir /results && chown reflex /results
COPY --from=build /opt/reflex /opt/reflex
ENV PATH=/opt/reflex/bin:$PATH REFLEX_BENCH_RESULTS=/results
USER reflex
WORKDIR /home/reflex
ENTRYPOINT ["reflex"]
CMD ["--help"]
