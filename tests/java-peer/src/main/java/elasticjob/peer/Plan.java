package elasticjob.peer;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.nio.file.Path;
import java.util.List;
import org.apache.shardingsphere.elasticjob.api.JobConfiguration;
import org.apache.shardingsphere.elasticjob.infra.pojo.JobConfigurationPOJO;
import org.apache.shardingsphere.elasticjob.infra.yaml.YamlEngine;

/**
 * What an instance is told to do, as the JSON of its one argument.
 *
 * @param registry where the registry is
 * @param jobs its jobs
 * @param records the file for its records
 * @param pace the file that tells when runs begin to take as long as planned, which they do from the start where it is null
 */
record Plan(Registry registry, List<Job> jobs, String records, String pace) {

    private static final Gson GSON =
            new GsonBuilder().setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES).create();

    static Plan parse(final String json) {
        return GSON.fromJson(json, Plan.class);
    }

    Path paceFile() {
        return null == pace ? null : Path.of(pace);
    }

    /**
     * A job.
     *
     * @param configuration its configuration in the form in which the registry keeps it
     * @param runMilliseconds how long its runs take
     */
    record Job(String configuration, long runMilliseconds) {

        JobConfiguration parsed() {
            return YamlEngine.unmarshal(configuration, JobConfigurationPOJO.class).toJobConfiguration();
        }
    }
}
