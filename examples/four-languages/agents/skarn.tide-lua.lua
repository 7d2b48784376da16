--[[
@agent skarn.tide-lua
@description Counts gulls that sit on the rail.
@tool count_gulls
@tool-description Add gulls that came, and get the total.
@tool-params {"type":"object","properties":{"gulls":{"type":"integer"}},"required":["gulls"]}
@command @gulls set_gulls
@preload true
]]

function on_load(store)
  if store.total then
    return "Gulls so far: " .. store.total
  end
end

function on_tool_call(tool_name, args, store)
  store.total = (store.total or 0) + args.gulls
  return "Gulls so far: " .. store.total
end

function set_gulls(args, store)
  local total = math.tointeger(tonumber(args))
  if not total then
    return "Write a number."
  end
  store.total = total
end
