import java.util.Map;
import org.apache.hadoop.registry.client.api.RegistryOperations;
import org.apache.hadoop.registry.client.api.RegistryOperationsFactory;
import org.apache.hadoop.registry.client.binding.RegistryUtils;
import org.apache.hadoop.registry.client.types.ServiceRecord;
import org.apache.hadoop.registry.conf.RegistryConfiguration;

// Prints the service record of a path of YARN's registry and those of its components, as Hadoop's own library reads
// them: a line "PATH JSON" each.
public class ReadRegistry {
  public static void main(String[] arguments) throws Exception {
    String path = arguments[0];
    RegistryUtils.ServiceRecordMarshal json = new RegistryUtils.ServiceRecordMarshal();
    RegistryOperations registry = RegistryOperationsFactory.createAnonymousInstance(new RegistryConfiguration());
    registry.start();
    System.out.println(path + " " + line(json, registry.resolve(path)));
    Map<String, ServiceRecord> components = RegistryUtils.listServiceRecords(registry, path + "/components");
    for (Map.Entry<String, ServiceRecord> component : components.entrySet()) {
      System.out.println(component.getKey() + " " + line(json, component.getValue()));
    }
    registry.stop();
  }

  private static String line(RegistryUtils.ServiceRecordMarshal json, ServiceRecord record) throws Exception {
    return json.toJson(record).replace("\n", " ");
  }
}
