-- Sends the searches of a file, one path a line, in the order of a second file of line numbers.
local requests, order, place = {}, {}, 0

function init(arguments)
  for path in io.lines(arguments[1]) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
  for line in io.lines(arguments[2]) do
    order[#order + 1] = tonumber(line)
  end
  math.randomseed(os.time() + tonumber(tostring({}):match("0x(%x+)"), 16) % 100000)
  place = math.random(#order)
end

function request()
  place = place % #order + 1
  return requests[order[place]]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'result {"requests": %d, "seconds": %f, "refused": %d, "errors": %d, "timeouts": %d, "mean_s": %f, "p50_s": %f, "p99_s": %f}\n',
    summary.requests, summary.duration / 1e6, errors.status, errors.connect + errors.read + errors.write, errors.timeout,
    latency.mean / 1e6, latency:percentile(50) / 1e6, latency:percentile(99) / 1e6))
end
