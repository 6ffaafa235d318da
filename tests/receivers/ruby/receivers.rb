# The Ruby of docs/webhooks.md, by hand, against the vectors, and against what a real service sent.

require "json"
require_relative "extracted/by_hand"

paths = ENV.fetch("VECTORS").split(":") << ENV.fetch("RECEIVED")
vectors = paths.flat_map { |path| JSON.parse(File.read(path))["vectors"] }
# Headers as in web frameworks: the case of a name does not matter.
headers_of = ->(vector) { vector["headers"].to_h { |name, value| [name.split("-").map(&:capitalize).join("-"), value] } }
wrong = vectors.reject do |vector|
  genuine?(vector["body"], headers_of.(vector), vector["secret"]) == (vector["expected"]["service"] == "valid")
end
wrong.each { |vector| puts "wrong: #{vector["name"]}" }
exit wrong.empty?
