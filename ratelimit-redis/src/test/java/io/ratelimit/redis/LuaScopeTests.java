package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.redis.LuaScopes.Part;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Script and library have no globals but those of Redis and no unused locals, and each part names what it shares with others.
 */
class LuaScopeTests {

    private static final String[] PROVIDED = {
        "error",
        "redis",
        "KEYS",
        "ARGV",
        "math",
        "string",
        "struct",
        "table",
        "ipairs",
        "pcall",
        "tonumber",
        "type",
        "unpack"
    };

    private static final List<Part> SCRIPT = parts(RateLimitScript.scriptParts(), RateLimitScript.END);

    private static final List<Part> LIBRARY = parts(RateLimitScript.PARTS, RateLimitLibrary.end("name"));

    private static final List<Part> WITHOUT_TIME = parts(RedisClock.INSTANCE.parts(), RateLimitLibrary.end("name"));

    private static List<Part> parts(List<String> names, String end) {
        return Stream.concat(
                        names.stream().map(name -> new Part(name, RateLimitScript.read(name))),
                        Stream.of(new Part("end", end)))
                .toList();
    }

    @Test
    void scriptHasNoGlobalsOfItsOwn() {
        assertThat(new LuaScopes(SCRIPT).globals()).containsExactlyInAnyOrder(PROVIDED);
    }

    @Test
    void libraryHasNoGlobalsOfItsOwn() {
        assertThat(new LuaScopes(LIBRARY).globals()).isSubsetOf(PROVIDED).doesNotContain("KEYS", "ARGV");
    }

    @Test
    void everyLocalIsUsed() {
        assertThat(new LuaScopes(SCRIPT).unused()).isEmpty();
        assertThat(new LuaScopes(LIBRARY).unused()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("parts")
    void firstLinesOfAPartNameWhatItTakesAndLeaves(Part part) {
        LuaScopes scopes = new LuaScopes(SCRIPT);
        assertThat(part.names("takes")).as("takes").containsExactlyInAnyOrderElementsOf(scopes.taken(part.name()));
        assertThat(part.names("leaves")).as("leaves").containsExactlyInAnyOrderElementsOf(scopes.left(part.name()));
    }

    @Test
    void partForClocksOfInstancesNamesWhatItTakes() {
        LuaScopes scopes = new LuaScopes(WITHOUT_TIME);
        Part part = WITHOUT_TIME.get(RateLimitScript.PARTS.size());
        assertThat(part.names("takes")).containsExactlyInAnyOrderElementsOf(scopes.taken(part.name()));
        assertThat(scopes.left(part.name())).isEmpty();
        assertThat(scopes.globals()).isSubsetOf(PROVIDED);
        assertThat(scopes.unused()).isEmpty();
    }

    static List<Part> parts() {
        return SCRIPT.stream().filter(part -> !part.name().equals("end")).toList();
    }

    @Test
    void globalsAreFound() {
        assertThat(scopes("local a = 1\nfunction f() b = a + c end", "local function g() return f() end\ng()")
                        .globals())
                .containsExactly("b", "c", "f");
    }

    @Test
    void unusedLocalsAreFoundAndWritingIsNoUse() {
        assertThat(scopes("local a, b = 1, 2\nlocal function f(c, _) b = 3 end", "for i = 1, 2 do local a = i end")
                        .unused())
                .containsExactly("0.lua:1 a", "0.lua:1 b", "0.lua:2 f", "0.lua:2 c", "1.lua:1 a");
    }

    @Test
    void whatIsHandedOverIsFound() {
        LuaScopes scopes = scopes("local a, b = 1, 2\nlocal c = b", "local b = a\nif b then return c end");
        assertThat(scopes.left("0.lua")).containsExactly("a", "c");
        assertThat(scopes.taken("1.lua")).containsExactly("a", "c");
    }

    private static LuaScopes scopes(String first, String second) {
        return new LuaScopes(List.of(new Part("0.lua", first), new Part("1.lua", second)));
    }
}
