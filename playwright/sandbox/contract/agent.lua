--[[
@agent contract.suite
@description Does what cases.json asks; the same agent exists in four languages.
]]

local function nested(depth)
  local deep = { 0 }
  for _ = 1, depth do deep = { deep } end
  return deep
end

local special = {
  nan = function() return 0 / 0 end,
  infinity = function() return { 1 / 0, -1 / 0 } end,
  ["function"] = function() return { kept = 1, dropped = print, list = { print } } end,
  cycle = function()
    local cycle = { a = {} }
    cycle.a.b = cycle
    return cycle
  end,
  deep = function() return nested(20000) end,
  nearly_deep = function() return nested(900) end,
  surrogate = function() return "a\xED\xA0\x80b" end,
  proto = function() return { ["__proto__"] = { x = 1 }, constructor = 2 } end,
  controls = function() return 'nul \0 quote " back \\ tab \t' end,
}

local tools = {}

function tools.nothing() return nil end

function tools.text(args) return args.value end

function tools.value(args) return args.value end

function tools.kind(args)
  local value = args.value
  if value == nil then return "null" end
  if math.type(value) == "integer" then return "whole" end
  if math.type(value) == "float" then return "fraction" end
  if type(value) == "boolean" then return "boolean" end
  if type(value) == "string" then return "text" end
  if #value > 0 or next(value) == nil then return "list " .. #value end
  local count = 0
  for _ in pairs(value) do count = count + 1 end
  return "object " .. count
end

function tools.remember(args, store)
  store.items = store.items or {}
  table.insert(store.items, args.item)
  return tostring(#store.items)
end

function tools.count(args, store) return tostring(#store.items) end

function tools.empty(args, store)
  while #store.items > 0 do table.remove(store.items) end
end

function tools.replace_with_empty(args, store) store.items = {} end

function tools.forget(args, store) store[args.key] = nil end

function tools.deep_change(args, store) store.a.b[2].c = args.value end

function tools.change_and_throw(args, store)
  store.items = { "half done" }
  error(args.message, 0)
end

function tools.fail(args) error(args.message, 0) end

function tools.tell(args, store, studio)
  studio.log("log " .. args.text)
  studio.toast("toast " .. args.text)
  print("console " .. args.text)
end

function tools.tell_often(args, store, studio)
  for i = 0, args.times - 1 do studio.log("line " .. i) end
end

function tools.search(args, store, studio) return studio.history.search(args.query):await() end

function tools.range(args, store, studio) return studio.history.range(args.start, args["end"]):await() end

function tools.read(args, store, studio)
  return studio.context.readFile(args.name):await() == nil and "no such file" or "a file"
end

function tools.model(args, store, studio)
  return studio.callModel("be brief", { { role = "user", content = "hi" } }, 50, { model = "main" }):await()
end

function tools.model_bare(args, store, studio) return studio.callModel("be brief", {}):await() end

function tools.grant(args, store, studio) return studio.grants.readStore("other.agent"):await() end

function tools.fetch(args, store, studio)
  return studio.web.fetch("https://example.org/", { maxChars = 500 }):await()
end

function tools.caught(args, store, studio)
  local fine, problem = pcall(function() return studio.context.readFile("refuse"):await() end)
  return fine and "answered" or "caught: " .. problem
end

function tools.two_at_once(args, store, studio)
  local first, second = studio.history.search("first"), studio.history.search("second")
  local later, earlier = second:await(), first:await()
  return earlier.arguments.query .. " " .. later.arguments.query
end

function tools.capability(args, store, studio)
  local function word(found) return found and "present" or "absent" end
  return word(studio.conversation) .. " " .. word(studio.history.compact) .. " " .. word(studio.web.fetch)
end

function tools.context(args, store, studio, context)
  return table.concat({
    context.invokedBy, context.agentId, context.characterName, context.conversationLength, context.toolCallId,
    context.config.contextFile,
  }, " ")
end

function tools.special(args, store) store.special = special[args.kind]() end

function tools.special_result(args) return special[args.kind]() end

local function lose()
  error("lost") -- raises deep
end

local raised = {
  missing = function()
    local nothing
    return nothing.moood -- raises missing
  end,
  object = function() error({ code = 3 }) end, -- raises object
  silent = function()
    error() -- raises silent
  end,
  deep = function() lose() end,
  later = function(studio)
    studio.context.readFile("a.txt"):await()
    error("too late") -- raises later
  end,
  refused = function(studio)
    studio.context.readFile("refuse"):await() -- raises refused
  end,
  inside = coroutine.wrap(function()
    error("in a coroutine") -- raises inside
  end),
}

function tools.raise(args, store, studio) raised[args.how](studio) end

function tools.roll()
  local rolled = {}
  for i = 1, 8 do rolled[i] = math.random(0, 999999999) end
  return table.concat(rolled, " ")
end

-- What Lua takes when no seed is named is the same in workers that start together.
function tools.roll_seeded()
  math.randomseed()
  return tools.roll()
end

function on_load(store)
  if store.items and #store.items > 0 then return #store.items .. " items" end
end

function on_tool_call(tool_name, args, store, studio, context)
  return tools[tool_name](args, store, studio, context)
end

function on_after_response(event, store)
  store.turns = (store.turns or 0) + 1
  store.last = event.responseText
end

local function trim(text) return text:match("^%s*(.-)%s*$") end

function memoryAdd(args, store, studio)
  if trim(args) == "" then return "Usage: memory <text>" end
  store.items = store.items or {}
  table.insert(store.items, trim(args))
  studio.toast("Stored: " .. trim(args))
end

function onlyArgs(args) return "got " .. args end
