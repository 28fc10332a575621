package elasticjob.peer;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonSyntaxException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.shardingsphere.elasticjob.infra.pojo.JobConfigurationPOJO;
import org.apache.shardingsphere.elasticjob.infra.yaml.YamlEngine;
import org.apache.shardingsphere.elasticjob.lite.lifecycle.api.JobAPIFactory;

/**
 * The life-cycle API. Each line of the input is a JSON list, an operation and its operands, of which a server may be null.
 * Each is answered with a line: an object with {@code done}, which holds the result, or with {@code error}.
 */
final class Operator {

    private static final Gson GSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private final Map<String, Operation> operations = new TreeMap<>();

    private interface Operation {
        Object apply(String[] operands) throws Exception;
    }

    /** An operation without a result. */
    private interface Action {
        void apply(String[] operands) throws Exception;
    }

    private Operator(final String servers, final String namespace, final String digest) {
        var jobs = JobAPIFactory.createJobOperateAPI(servers, namespace, digest);
        action("trigger", of -> jobs.trigger(of[1]));
        action("disable-server", of -> jobs.disable(of[1], of[2]));
        action("enable-server", of -> jobs.enable(of[1], of[2]));
        action("shutdown", of -> jobs.shutdown(of[1], of[2]));
        action("remove", of -> jobs.remove(of[1], of[2]));
        var items = JobAPIFactory.createShardingOperateAPI(servers, namespace, digest);
        action("disable-item", of -> items.disable(of[1], of[2]));
        action("enable-item", of -> items.enable(of[1], of[2]));
        var configurations = JobAPIFactory.createJobConfigurationAPI(servers, namespace, digest);
        operations.put("configuration", of -> YamlEngine.marshal(configurations.getJobConfiguration(of[1])));
        action("configure", of -> configurations.updateJobConfiguration(YamlEngine.unmarshal(of[1], JobConfigurationPOJO.class)));
        action("remove-configuration", of -> configurations.removeJobConfiguration(of[1]));
        var statistics = JobAPIFactory.createJobStatisticsAPI(servers, namespace, digest);
        operations.put("job", of -> statistics.getJobBriefInfo(of[1]));
        var sharding = JobAPIFactory.createShardingStatisticsAPI(servers, namespace, digest);
        operations.put("sharding", of -> sharding.getShardingInfo(of[1]));
        var machines = JobAPIFactory.createServerStatisticsAPI(servers, namespace, digest);
        operations.put("servers", of -> machines.getAllServersBriefInfo());
    }

    private void action(final String name, final Action action) {
        operations.put(name, operands -> {
            action.apply(operands);
            return null;
        });
    }

    static void main(final String[] arguments) throws Exception {
        if (2 != arguments.length && 3 != arguments.length) {
            throw new UsageException("HOST:PORT NAMESPACE [USER:PASSWORD]");
        }
        Operator operator = new Operator(arguments[0], arguments[1], 3 == arguments.length ? arguments[2] : null);
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); null != line; line = lines.readLine()) {
            System.out.println(GSON.toJson(operator.answer(line)));
        }
    }

    private Map<String, Object> answer(final String line) {
        Map<String, Object> result = new HashMap<>();
        try {
            String[] words = GSON.fromJson(line, String[].class);
            Operation operation = null == words || 0 == words.length ? null : operations.get(words[0]);
            if (null == operation) {
                result.put("error", "no operation: " + line + "; there are " + operations.keySet());
            } else {
                result.put("done", operation.apply(words));
            }
        } catch (final JsonSyntaxException ex) {
            result.put("error", "no list: " + line);
        } catch (final Exception ex) {
            result.put("error", ex.toString());
        }
        return result;
    }
}
