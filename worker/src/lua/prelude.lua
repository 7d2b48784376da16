-- The first code inside Lua: builds what an agent sees and drives its coroutine.
--
-- Text is all that crosses to the host: `emit` takes JSON, the entries at the end get it. The agent
-- has globals of its own with the portable subset of the libraries. A handler runs in a coroutine;
-- `:await()` on a bridge promise yields it, also from within coroutines of the agent's own.

local json, store, emit, limits_text, random_seeds = ...
local create, resume, running, status, yield = coroutine.create, coroutine.resume, coroutine.running,
  coroutine.status, coroutine.yield
local pack, unpack, concat = table.pack, table.unpack, table.concat
local error, getmetatable, load, next, pcall, rawget, select, tostring, type = error, getmetatable, load, next, pcall,
  rawget, select, tostring, type
local find, gmatch, gsub, match, sub = string.find, string.gmatch, string.gsub, string.match, string.sub
local getinfo, traceback = debug.getinfo, debug.traceback
local randomseed, tointeger = math.randomseed, math.tointeger
local quote = json.quote

local limits = json.decode(limits_text)
local AWAIT = {} -- what a yield to the host begins with

local agent -- the agent's globals
local path -- its file's
local main, awaited -- the running call's coroutine, and the promise it waits for
local waiting, open_requests, last_request = {}, 0, 0

local function notice(kind, text)
  emit('{"op":"notice","kind":"' .. kind .. '","text":' .. quote(text) .. "}")
end

-- The studio object --------------------------------------------------------------------------

local promise = { __name = "promise" }
promise.__index = promise

function promise:await()
  if self.done == nil then yield(AWAIT, self) end
  if not self.done then error(self.message, 0) end
  return self.value
end

local function request(method, ...)
  if main == nil then error("studio." .. method .. " is only there while a call runs", 0) end
  if open_requests >= limits.openRequests then
    error("more than " .. limits.openRequests .. " studio calls at once; await some first", 0)
  end
  local values, texts = pack(...), {}
  for index = 1, values.n do
    local fine, text = pcall(json.encode, values[index], "arguments of studio." .. method)
    if not fine then error(type(text) == "table" and text.refused or text, 0) end
    texts[index] = text or "null"
  end
  last_request = last_request + 1
  open_requests = open_requests + 1
  local pending = setmetatable({}, promise)
  waiting[last_request] = pending
  emit(
    '{"op":"request","id":' .. last_request .. ',"method":"' .. method .. '","arguments":[' .. concat(texts, ",") .. "]}"
  )
  return pending
end

local methods = {
  toast = function(message) notice("toast", tostring(message)) end,
  log = function(message) notice("log", tostring(message)) end,
}
local groups = {} -- name -> its methods

for _, method in next, limits.studio do
  local call = function(...) return request(method, ...) end
  local group, name = string.match(method, "^(.-)%.(.*)$")
  if group then
    groups[group] = groups[group] or {}
    groups[group][name] = call
  else
    methods[method] = call
  end
end

-- Fresh tables for every call: what an agent does to them ends with the call.
local function new_studio()
  local studio = {}
  for name, call in next, methods do studio[name] = call end
  for group, calls in next, groups do
    local own = {}
    for name, call in next, calls do own[name] = call end
    studio[group] = own
  end
  return studio
end

-- The agent's globals ------------------------------------------------------------------------

-- Resumes a coroutine of the agent's; what it awaits is awaited by the one that resumes it.
local function resume_through(thread, ...)
  local results = pack(resume(thread, ...))
  while results[1] and results[2] == AWAIT and status(thread) == "suspended" do
    yield(AWAIT, results[3])
    results = pack(resume(thread))
  end
  return unpack(results, 1, results.n)
end

local function wrap(body)
  local thread = create(body)
  return function(...)
    local results = pack(resume_through(thread, ...))
    if not results[1] then error(results[2], 0) end
    return unpack(results, 2, results.n)
  end
end

local function print_to_log(...)
  local values = pack(...)
  for index = 1, values.n do values[index] = tostring(values[index]) end
  notice("console", concat(values, "\t"))
end

-- Lua would take time and address for seeds, which are the same in workers that start together.
local function seed(...)
  if select("#", ...) > 0 then return randomseed(...) end
  local first, second = random_seeds()
  return randomseed(tointeger(first), tointeger(second))
end

local PORTABLE = "assert error ipairs pairs pcall rawequal select tonumber tostring type xpcall _VERSION math table utf8"

local function new_globals()
  local globals = {}
  for name in gmatch(PORTABLE, "%S+") do globals[name] = _G[name] end
  for name, builtin in next, store.builtins do globals[name] = builtin end
  globals.print = print_to_log
  globals.string = string
  string.dump = nil
  math.randomseed = seed
  seed()
  globals.os = { time = os.time, clock = os.clock, date = os.date, difftime = os.difftime }
  globals.coroutine = {}
  for name, builtin in next, coroutine do globals.coroutine[name] = builtin end
  globals.coroutine.resume = resume_through
  globals.coroutine.wrap = wrap
  globals._G = globals
  return globals
end

-- Calls --------------------------------------------------------------------------------------

local function forget()
  main, awaited = nil, nil
  waiting, open_requests = {}, 0
end

local function shown(thrown)
  if thrown == nil then return "an error without a message" end
  local named = type(thrown) == "table" and getmetatable(thrown)
  if type(thrown) == "table" and not (named and named.__tostring) then return json.encode(thrown, "error") end
  return tostring(thrown)
end

-- Kind and message.
local function described(thrown)
  if type(thrown) == "table" and thrown.refused then return "value", thrown.refused end
  local readable, text = pcall(shown, thrown)
  if not readable or type(text) ~= "string" then return "threw", "a value that cannot be shown" end
  if find(text, "not enough memory", 1, true) then return "memory", text end
  return "threw", text
end

-- What Lua raises itself and what an agent raises as text is an error; else the name of its metatable.
local function name_of(thrown, kind)
  if kind == "value" or type(thrown) == "string" then return "error" end
  local metatable = type(thrown) == "table" and getmetatable(thrown)
  local name = type(metatable) == "table" and rawget(metatable, "__name")
  return type(name) == "string" and name or type(thrown)
end

-- The line in the agent's file: as the message has it in front, else of the innermost frame there.
local function line_of(message, thread)
  local name, line = match(message, "^(.-):(%d+):")
  -- Lua cuts what is longer than 59 bytes.
  if name == path or name == sub(path, 1, 59) then return line end
  for level = 0, 200 do
    local frame = thread and getinfo(thread, level, "Sl")
    if not frame then return nil end
    if frame.source == "=" .. path and frame.currentline > 0 then return tostring(frame.currentline) end
  end
end

-- Frames of ours are no help to an author.
local function stack_of(thread, message)
  local stack = traceback(thread, message)
  for _, ours in next, { "json", "store", "prelude" } do stack = gsub(stack, "\n\t" .. ours .. ":%d+: [^\n]*", "") end
  return stack
end

-- The fields of an error, see Thrown.
local function error_fields(thrown, thread, kind, message)
  local stack = thread and quote(stack_of(thread, message)) or "null"
  return '"kind":"' .. kind .. '","message":' .. quote(message) .. ',"name":' .. quote(name_of(thrown, kind)) .. ',"file":'
    .. quote(path) .. ',"line":' .. (line_of(message, thread) or "null") .. ',"stack":' .. stack
end

local function fail(thrown, thread)
  forget()
  local kind, message = described(thrown)
  emit('{"op":"error",' .. error_fields(thrown, thread, kind, message) .. "}")
end

local function result_text(value)
  if value == nil then return nil end
  if type(value) == "string" then return json.well_formed(value) end
  return json.encode(value, "result")
end

local function ended(value)
  return result_text(value), store.save()
end

-- Answers the end of a call that left the store as it was, see `begin`; emits any other.
local function finish(value)
  local fine, text, changed = pcall(ended, value)
  if not fine then return fail(text) end
  forget()
  if changed == nil then return text and "=" .. text or "-" end
  emit('{"op":"result","value":' .. (text and quote(text) or "null") .. "}", changed)
end

-- Runs the call until it waits or ends; answers what `finish` does.
local function step(...)
  local results = pack(resume(main, ...))
  while results[1] and results[2] == AWAIT and results[3].done ~= nil do results = pack(resume(main)) end
  if not results[1] then
    fail(results[2], main)
  elseif status(main) == "dead" then
    return finish(results[2])
  elseif results[2] == AWAIT then
    awaited = results[3]
  else
    fail("a handler yielded outside a coroutine of its own")
  end
end

local entries = {}

local function load_failed(thrown, thread)
  local kind, message = described(thrown)
  local fields = error_fields(thrown, thread, kind, message)
  if not thread then fields = gsub(fields, '"name":"error"', '"name":"syntax error"', 1) end
  return '{"kind":"' .. kind .. '","failed":{' .. fields .. "}}"
end

-- Loads the agent's source; answers which of the wanted names are functions, or what was thrown.
function entries.load(filename, source, wanted)
  agent, path = new_globals(), filename
  local chunk, problem = load(source, "=" .. filename, "t", agent)
  if not chunk then return load_failed(problem) end
  local thread = create(chunk)
  local fine, thrown = resume(thread)
  if not fine then return load_failed(thrown, thread) end
  if status(thread) ~= "dead" then return load_failed("its top level yields outside a coroutine of its own", thread) end
  local found = {}
  for _, name in next, json.decode(wanted) do
    if type(agent[name]) == "function" then found[#found + 1] = quote(name) end
  end
  return '{"found":[' .. concat(found, ",") .. "]}"
end

-- `text`: the arguments and the context. Answers "-" or "=" and a text when the call has ended with no
-- value or that one and left the store as it was; else what happens is emitted.
function entries.begin(name, text, store_text)
  if store_text then store.load(store_text) end
  local handler = agent[name]
  if type(handler) ~= "function" then
    return emit('{"op":"error","kind":"missing","message":' .. quote("the agent defines no function " .. name) .. "}")
  end
  forget()
  main = create(handler)
  local values, count = json.decode_list(text)
  values[count], values[count + 1], values[count + 2] = store.object(), new_studio(), values[count]
  return step(unpack(values, 1, count + 2))
end

function entries.settle(text)
  local answer = json.decode(text)
  local pending = waiting[answer.id]
  if not pending then return end
  waiting[answer.id] = nil
  open_requests = open_requests - 1
  pending.done, pending.value, pending.message = answer.ok, answer.value, answer.message
  if pending == awaited then
    awaited = nil
    local finished = step()
    if finished == "-" then
      emit('{"op":"result","value":null}')
    elseif finished then
      emit('{"op":"result","value":' .. quote(sub(finished, 2)) .. "}")
    end
  end
end

return entries
